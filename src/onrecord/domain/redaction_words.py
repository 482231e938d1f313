"""The words that tell a value from what prose, forms and code put behind a secret's name."""

from __future__ import annotations

from typing import Final


def _read(text: str) -> frozenset[str]:
    return frozenset(text.split())


DESCRIPTIONS: Final = _read(
    """
    a an the this that these those it its not no none nil null void nan yes true false on off any all some only also
    never always often usually already still now then here there below above elsewhere somewhere in at by for from
    with without to of as if so and but or nor than per via into within where when what which who why how either
    neither both one two three required optional mandatory necessary needed missing empty blank unset undefined
    unknown default same different identical wrong right correct incorrect valid invalid bad good fine okay weak
    strong long short simple complex random unique easy hard safe secure insecure private public secret hidden
    masked redacted removed visible plain plaintext cleartext old new current previous temporary temp permanent
    local remote shared common dead alive lost forgotten stale fresh string str text bytes bool boolean int integer
    number float object array list dict map char varchar binary bytea base64 password passwords passwd pwd
    passphrase passcode secrets token tokens key keys pin pins credential credentials cookie username user login
    email name value values field fields input type id ids hash hashes salt column parameter param argument option
    flag switch prompt example sample test demo placeholder dummy todo tbd na n/a etc see ask later soon today
    yesterday vault keychain keyring manager env environment variable config settings file folder stdin notes note
    description everything nothing something anything important sensitive confidential critical essential vital gone
    back ready available longer shorter better worse enough case ever really very too quite rather just simply
    likely probably certainly falsch richtig korrekt erforderlich leer neu alt geheim sicher unsicher vergessen
    abgelaufen nicht kein keine noch nur faux vide requis requise obligatoire incorrecte correcte oublié expiré
    nouveau ancien absent pas incorrecta incorrecto correcta correcto obligatoria obligatorio requerida requerido
    caducada nueva vieja segura perdida
    """
)
"""Words that say something of a secret, or stand where one is not told: English, German, French, Spanish."""

SENTENCE_WORDS: Final = _read(
    """
    a an the this that these those of to in on at by for from with without into and or not nor but if as is are was
    were be been being must should shall can could may might will would has have had do does did use used uses using
    need needs which who when where what how your my our their his her its it they you we least than more most every
    each any all some no password passwords passphrase passphrases phrase words word seed recovery secret token key
    user required optional
    """
)
"""Words that a sentence needs and a passphrase of random words has not."""

NON_VALUES: Final = _read(
    """
    none null nil undefined void nan true false yes no on off required optional string str text bytes bool boolean
    int integer number varchar binary bytea object
    """
)
"""What a setting holds where it holds no secret."""

PARTICIPLES: Final = ("ed", "ing", "able", "ible", "ory")
"""Endings of what a label may hold: `encrypted`, `mandatory`."""

ADJECTIVES: Final = (*PARTICIPLES, "ly", "less", "ful", "ive", "ary", "ous", "specific", "only", "free")
"""Endings of what a sentence may say: `case-sensitive`, `read-only`."""
