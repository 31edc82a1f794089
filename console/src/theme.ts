import { read, type Store, write } from './memory.ts'

/** How the page looks; `system`: as the person's computer does. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'trunkline.theme'

/** What the person chose; default `system`. */
export const themeOf = (store: Store): Theme => {
  const kept = read(store, KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Keeps a choice, and lets the page look so. */
export const chooseTheme = (store: Store, theme: Theme, root: HTMLElement): void => {
  write(store, KEY, theme)
  root.dataset.theme = theme
}
