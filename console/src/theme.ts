import { read, type Store, write } from './memory.ts'

/** Look of the page; `system` follows the computer's setting. */
export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'trunkline.theme'

/** Returns the user's choice; default `system`. */
export const themeOf = (store: Store): Theme => {
  const kept = read(store, storageKey)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Stores a choice and applies it to the page. */
export const chooseTheme = (store: Store, theme: Theme, root: HTMLElement): void => {
  write(store, storageKey, theme)
  root.dataset.theme = theme
}
