import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../docs')

/** Fenced block of a page. */
export interface Block {
  readonly language: string
  readonly text: string
}

/** Returns the fenced blocks of a page of `docs/`. */
export const blocksOf = (page: string): readonly Block[] =>
  [...readFileSync(join(docs, page), 'utf8').matchAll(/^```(\w*).*\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', text = '']) => ({ language, text }),
  )

/** Returns the program that a page tells its reader to save under this name. */
export const programOf = (page: string, name: string): string => {
  const block = blocksOf(page).find(({ text }) => text.startsWith(`// ${name}\n`))
  if (!block) throw new Error(`docs/${page} has no program ${name}`)
  return block.text
}

/** Returns the shell commands of a page that send requests. */
export const requestsOf = (page: string): readonly string[] =>
  blocksOf(page)
    .filter(({ language, text }) => language === 'sh' && text.startsWith('curl '))
    .map(({ text }) => text)
