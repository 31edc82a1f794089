import { Cell } from '../cell.ts'
import { read, type Store, write } from '../memory.ts'
import type { Language } from './alerts.ts'
import { en, type Texts } from './en.ts'

/** The user's choice; `system` is the language of the browser. */
export type LanguageChoice = Language | 'system'

const storageKey = 'trunkline.language'

/** Texts in the language of the page. */
export const texts = new Cell<Texts>(en)

let current: Language = 'en'

/** Returns the language of the page. */
export const language = (): Language => current

/** Returns the locale of dates: that of the browser if it has the language of the page. */
export const locale = (): string => navigator.languages?.find((tag) => tag.startsWith(current)) ?? current

/** Returns the stored choice; default `system`. */
export const languageChoice = (store: Store): LanguageChoice => {
  const kept = read(store, storageKey)
  return kept === 'en' || kept === 'de' ? kept : 'system'
}

/** Returns the first language of the browser that the page has; default English. */
export const preferred = (languages: readonly string[]): Language => {
  const found = languages
    .map((tag) => tag.slice(0, 2).toLowerCase())
    .find((tag) => tag === 'en' || tag === 'de')
  return found === 'de' ? 'de' : 'en'
}

/**
 * Changes the language of the page. The German texts are loaded on first use; if that fails, the page stays
 * as it is.
 */
export const applyLanguage = async (choice: LanguageChoice, languages: readonly string[]): Promise<void> => {
  const wanted = choice === 'system' ? preferred(languages) : choice
  try {
    const found = wanted === 'de' ? (await import('./de.ts')).de : en
    current = wanted
    texts.value = found
    document.documentElement.lang = wanted
  } catch {}
}

/** Stores a choice. */
export const keepLanguage = (store: Store, choice: LanguageChoice): void => write(store, storageKey, choice)
