import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'vite'
import { describe, expect, it } from 'vitest'
import { de } from './de.ts'
import { catalogue as dialogs } from './dialogs.ts'
import { en } from './en.ts'
import { preferred } from './language.ts'
import { catalogue as later } from './later.ts'
import { catalogue as room } from './room.ts'

/** Texts of the page, and of the parts that are loaded on demand. */
const catalogues: readonly { readonly en: object; readonly de: object }[] = [{ en, de }, dialogs, later, room]

const views = join(import.meta.dirname, '..', 'views')

/** Attributes whose value a user reads or hears. */
const read = ['aria-label', 'title', 'placeholder', 'alt', 'label', 'text']

/** Names that stay the same in all languages. */
const names = ['English', 'Deutsch', 'Ctrl', 'Shift', 'Esc']

const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text) && !names.includes(text.trim())

/** Returns the texts in the source of a view that do not come from a catalogue. */
const hardCoded = (path: string): string[] => {
  const found: string[] = []
  const visitor = new Visitor({
    JSXText: ({ value }) => void (hasWords(value) && found.push(value.trim())),
    JSXAttribute({ name, value }) {
      const isRead = name.type === 'JSXIdentifier' && read.includes(name.name)
      if (isRead && value?.type === 'Literal' && hasWords(String(value.value)))
        found.push(String(value.value))
    },
    JSXExpressionContainer({ expression }) {
      if (
        expression.type === 'Literal' &&
        typeof expression.value === 'string' &&
        /\p{Lu}|\s/u.test(expression.value)
      )
        if (hasWords(expression.value)) found.push(expression.value)
    },
  })
  visitor.visit(parseSync(path, readFileSync(path, 'utf8')).program)
  return found
}

/** Sources of the page besides the catalogues, as one text. */
const sources = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.ts$|^texts\//.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')

describe('the catalogues', () => {
  it('have no text that the page does not use', () => {
    const used = sources(join(views, '..'))
    expect(
      catalogues
        .flatMap((each) => Object.keys(each.en))
        .filter((key) => !new RegExp(`\\b${key}\\b`).test(used)),
    ).toEqual([])
  })

  it('have the same keys, and no empty text', () => {
    for (const each of catalogues) expect(Object.keys(each.de).sort()).toEqual(Object.keys(each.en).sort())
    for (const text of catalogues.flatMap((each): unknown[] => [each.en, each.de].flatMap(Object.values)))
      if (typeof text === 'string') expect(text.trim()).not.toBe('')
  })

  it('take the same number of values in each text', () => {
    const counts = (texts: object) =>
      Object.entries(texts).map(([key, text]) => [key, typeof text === 'function' ? text.length : 0])
    for (const each of catalogues)
      expect(Object.fromEntries(counts(each.de))).toEqual(Object.fromEntries(counts(each.en)))
  })

  it('have the correct plural', () => {
    expect([en.suggestionCount(1), en.suggestionCount(2)]).toEqual(['1 suggestion', '2 suggestions'])
    expect([de.suggestionCount(1), de.suggestionCount(2)]).toEqual(['1 Vorschlag', '2 Vorschläge'])
  })
})

it.each(readdirSync(views).filter((name) => name.endsWith('.tsx')))('%s has no text of its own', (name) => {
  expect(hardCoded(join(views, name))).toEqual([])
})

it('the first known language of the browser is taken, else English', () => {
  expect([['de-AT', 'en'], ['fr', 'de'], ['fr'], []].map(preferred)).toEqual(['de', 'de', 'en', 'en'])
})
