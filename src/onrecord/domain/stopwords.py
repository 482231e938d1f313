"""Function words that a question is better asked without: English, Chinese, Japanese."""

from __future__ import annotations

import re
from typing import Final

_ENGLISH = """
    a an the this that these those there here
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves one's
    am is are was were be been being do does did doing done have has had having
    can could will would shall should may might must ought
    and or but nor so yet if then than because as while although though unless whether
    of in on at by to from for with without into onto about against between among through during before after
    above below over under up down out off again further
    who whom whose which what when where why how
    not no any some each every either neither both all such only own same too very just also ever even still
    i'm i've i'll i'd we're we've we'll we'd you're you've you'll you'd he's he'll he'd she's she'll she'd
    it's it'll they're they've they'll they'd that's that'll there's here's
    what's who's whose's where's when's why's how's let's
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't won't wouldn't
    shan't shouldn't mustn't mightn't needn't
    please
"""
STOPWORDS: Final = frozenset(_ENGLISH.split())

_CHINESE = """
    什么时候 为什么 怎么样 什么 怎么 怎样 如何 哪里 哪儿 哪个 哪些 哪位 多少 几个 是否 能否 请问 有没有 是不是
    我们 你们 他们 她们 它们 咱们 自己 这个 那个 这些 那些 这里 那里 这样 那样 因为 所以 但是 而且 或者
    以及 还是 如果 虽然 关于 对于 已经 可以
    甚麼 什麼 為什麼 怎麼 怎樣 如何 哪裡 哪個 我們 你們 他們 她們 這個 那個 這些 還是 關於 對於 請問
"""
_JAPANESE = """
    ですか ますか でしたか ましたか でしょうか ください について に関して において によって という といった
    でした ました です ます ません ではない ではありません だった である であった している していた して した する され
    いつ どこ だれ 誰 なに なん 何 どれ どの どう どうして なぜ どちら どんな いくつ いくら
    これ それ あれ この その あの ここ そこ あそこ こと もの ため から まで より など だけ ほど ながら
"""
_KOREAN = "무엇 언제 어디 누구 어떻게 얼마 입니까 습니까 입니다 습니다 하는 에서 에게 으로 까지 부터"

# A question's run is cut at these, longest first, so that no pair of characters spans one.
FUNCTION_RUN: Final = re.compile(
    "|".join(sorted({*_CHINESE.split(), *_JAPANESE.split(), *_KOREAN.split()}, key=lambda word: (-len(word), word)))
)

_KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC)))
_CHINESE_SINGLE = (
    "的了着过過是在有和与與或也都就而及吗嗎呢吧啊呀嘛么麼我你您他她它这這那哪谁誰几幾把被给給对對从從到不没沒很"
)
_KOREAN_SINGLE = "은는이가을를에의도와과로"

# Single characters that say nothing alone; kana are letters, and a letter is no word.
FUNCTION_CHARACTERS: Final = frozenset(_KANA + _CHINESE_SINGLE + _KOREAN_SINGLE)
