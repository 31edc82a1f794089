import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { precompress } from './precompress.ts'

it('writes copies of text files that shrink, in all folders', () => {
  const folder = mkdtempSync(join(tmpdir(), 'precompress-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'assets'))
  const text = 'export const carrier = 1\n'.repeat(100)
  for (const [file, content] of Object.entries({
    'assets/page.js': text,
    'short.js': 'export {}',
    'icon.png': text,
  }))
    writeFileSync(join(folder, file), content)
  precompress(folder)
  expect(readdirSync(folder).sort()).toEqual(['assets', 'icon.png', 'short.js'])
  expect(readdirSync(join(folder, 'assets')).sort()).toEqual(['page.js', 'page.js.br', 'page.js.gz'])
  const copy = join(folder, 'assets', 'page.js')
  expect(brotliDecompressSync(readFileSync(`${copy}.br`)).toString()).toBe(text)
  expect(gunzipSync(readFileSync(`${copy}.gz`)).toString()).toBe(text)
})
