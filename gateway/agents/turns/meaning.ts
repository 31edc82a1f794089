import { isAcknowledgement } from '../text/acknowledgements.ts'
import { primaryLanguage, wordList, wordsOf } from '../text/words.ts'

/**
 * Meaning of the end of a text. `complete`: a sentence or question, or a short answer. `open`: no sign of
 * either. `unfinished`: more must follow, for instance after "and". `dictation`: digits or letters.
 */
export type Meaning = 'complete' | 'open' | 'unfinished' | 'dictation'

/** Words that no sentence ends with, by language. */
const unfinished: Readonly<Record<string, readonly string[]>> = {
  en: wordList(
    'and,or,but,so,because,if,when,the,a,an,to,of,with,for,from,at,my,your,our,their,is,are,was',
    'im,its,um,uh,er,erm,like,than,as,into,about,between,i,we,they,whose,would,could,can,will',
  ),
  de: wordList(
    'und,oder,aber,weil,dass,wenn,ob,der,ein,eine,einen,einem,einer,mit,für,von,vom,zum,zur,im',
    'mein,meine,meinen,ist,lautet,heißt,äh,ähm,sowie,denn,sondern,beim,am,ich,wir,unsere,ihre',
  ),
  es: wordList(
    'y,o,pero,porque,que,si,el,la,los,las,un,una,con,para,por,de,del,al,mi,mis,su,es,son,eh,em',
    'cuando,como',
  ),
  fr: wordList(
    'et,ou,mais,parce,que,si,le,la,les,un,une,des,avec,pour,de,du,au,aux,mon,ma,mes,est,cest,sont',
    'euh,je,quand,donc',
  ),
}

/** Short answers that are complete without a full stop, by language. */
const answers: Readonly<Record<string, readonly string[]>> = {
  en: ['no', 'no thanks', 'no thank you', 'yes please', 'thats all', 'goodbye', 'bye', 'thank you', 'thanks'],
  de: ['nein', 'nein danke', 'ja bitte', 'das wars', 'tschüss', 'auf wiederhören', 'danke', 'vielen dank'],
  es: ['no', 'no gracias', 'sí por favor', 'eso es todo', 'adiós', 'gracias', 'muchas gracias'],
  fr: ['non', 'non merci', 'oui merci', 'cest tout', 'au revoir', 'merci', 'merci beaucoup'],
}

/** Words for one digit, by language. */
const digits: Readonly<Record<string, readonly string[]>> = {
  en: [
    'zero',
    'oh',
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'double',
    'triple',
  ],
  de: ['null', 'eins', 'zwei', 'zwo', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun', 'doppel'],
  es: ['cero', 'uno', 'dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho', 'nueve', 'doble'],
  fr: ['zéro', 'un', 'deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf', 'double'],
}

const sets = (lists: Readonly<Record<string, readonly string[]>>) => {
  const all = new Map(Object.entries(lists).map(([language, words]) => [language, new Set(words)]))
  return (language: string): ReadonlySet<string> => all.get(language) ?? all.get('en')!
}

const unfinishedOf = sets(unfinished)
const answersOf = sets(answers)
const digitsOf = sets(digits)

const isNumeric = (word: string): boolean => word !== '' && [...word].every((c) => c >= '0' && c <= '9')

/** Whether a word is one digit, one letter, or a group of digits. */
const isDictated = (word: string, language: string): boolean =>
  isNumeric(word) || [...word].length === 1 || digitsOf(language).has(word)

/** Number of digits and letters that the dictation at the end of a text has. */
const dictatedLength = (words: readonly string[], language: string): number => {
  let length = 0
  for (let at = words.length - 1; at >= 0 && isDictated(words[at]!, language); at--)
    length += isNumeric(words[at]!) ? words[at]!.length : 1
  return length
}

/** Fewest digits or letters that are a dictation, rather than a number in a sentence. */
const minDictation = 3

const isDictation = (words: readonly string[], language: string): boolean => {
  const length = dictatedLength(words, language)
  if (length === 0) return false
  const last = words.at(-1)!
  // A single group of up to four digits is as often a year or a time.
  const isGroup = isNumeric(last) && last.length === length
  const before = words[words.length - (isGroup ? 2 : length + 1)]
  const isLedIn = before !== undefined && unfinishedOf(language).has(before)
  if (isGroup) return length > 4 || (length >= minDictation && (isLedIn || words.length === 1))
  return length >= minDictation || (length === 2 && words.length === 2)
}

/**
 * Meaning of the end of a recognised text. `language`: BCP 47 tag; without word lists for it (en, de, es,
 * fr), those of English count. A full stop counts only if the recogniser sets it.
 */
export const meaningOf = (text: string, language?: string): Meaning => {
  const primary = primaryLanguage(language)
  const trimmed = text.trimEnd()
  const words = wordsOf(trimmed)
  const last = words.at(-1)
  if (last === undefined) return 'open'
  const mark = trimmed.at(-1)!
  if (isDictation(words, primary)) return 'dictation'
  if (mark === '?' || mark === '？') return 'complete'
  const trails = trimmed.endsWith('...') || ',-–—…:'.includes(mark)
  if (trails || (words.length > 1 && unfinishedOf(primary).has(last))) return 'unfinished'
  if (isAcknowledgement(trimmed, language) || answersOf(primary).has(words.join(' '))) return 'complete'
  if (isNumeric(last)) return 'open'
  return '.!。！'.includes(mark) && words.length > 1 ? 'complete' : 'open'
}
