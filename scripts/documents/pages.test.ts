import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { pages } from './pages.ts'

it.each(Object.entries(pages))(
  'docs/%s says what the code says (else run scripts/document)',
  async (name, page) => {
    expect(readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')).toBe(await page())
  },
)
