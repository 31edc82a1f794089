import { primaryLanguage, wordList, wordsOf } from './words.ts'

/** Phrases of listeners, by language: they encourage the speaker, and do not take the turn. */
const phrases: Readonly<Record<string, readonly string[]>> = {
  en: wordList(
    'yeah,yes,yep,yup,ok,okay,right,alright,all right,sure,cool,great,good,nice,fine,i see,got it',
    'i know,of course,exactly,indeed,true,wow,thats right,that is right,really,understood,gotcha',
  ),
  de: wordList(
    'ja,jaja,jo,jep,genau,ok,okay,gut,klar,aha,ach so,achso,ach ja,stimmt,richtig,verstehe',
    'ich verstehe,alles klar,in ordnung,na klar,super,prima',
  ),
  es: wordList(
    'sí,si,ajá,aja,vale,claro,ya,bueno,bien,ok,okay,de acuerdo,entiendo,ya veo,por supuesto',
    'exacto,muy bien,cierto,perfecto',
  ),
  fr: wordList(
    'oui,ouais,daccord,ok,okay,bien,très bien,ah bon,je vois,voilà,bien sûr,tout à fait',
    'exactement,entendu,daccord,ça marche,super,cest ça',
  ),
}

/** Sounds of listeners in any language, beside those of only `m` and `h`. */
const sounds = new Set(['uh', 'uhuh', 'huh', 'um', 'er', 'ah', 'oh', 'aha', 'eh', 'em', 'euh', 'äh', 'ähm'])

const maxWords = 5

const isSound = (word: string): boolean => sounds.has(word) || [...word].every((c) => c === 'm' || c === 'h')

const phraseTable = (language: string): readonly (readonly string[])[] =>
  (phrases[language] ?? Object.values(phrases).flat()).map((phrase) => phrase.split(' '))

const tables = new Map(['', ...Object.keys(phrases)].map((language) => [language, phraseTable(language)]))

const phraseLength = (words: readonly string[], at: number, language: string): number => {
  if (isSound(words[at]!)) return 1
  const table = tables.get(language) ?? tables.get('')!
  return table.reduce(
    (longest, phrase) =>
      phrase.length > longest && phrase.every((word, i) => words[at + i] === word) ? phrase.length : longest,
    0,
  )
}

/**
 * Whether a text consists only of a listener's acknowledgements, such as "mm-hm" or "yeah, right": five words
 * at most. `language`: BCP 47 tag of the recogniser; without a list for it (en, de, es, fr), any list counts.
 */
export const isAcknowledgement = (text: string, language?: string): boolean => {
  const words = wordsOf(text)
  if (words.length === 0 || words.length > maxWords) return false
  const primary = primaryLanguage(language)
  for (let at = 0; at < words.length; ) {
    const length = phraseLength(words, at, primary)
    if (length === 0) return false
    at += length
  }
  return true
}
