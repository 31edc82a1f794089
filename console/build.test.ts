import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, it } from 'vitest'

/** Largest size of the scripts before the sign-in, in bytes after gzip. */
const maxStart = 45_000

/** Largest size of all scripts of a signed-in page without its dialogs and lists, in bytes after gzip. */
const maxPhone = 66_000

const chunks = async (): Promise<ReadonlyMap<string, Rolldown.OutputChunk>> => {
  const options = { root: import.meta.dirname, logLevel: 'error', build: { write: false } } as const
  const { output } = (await build(options)) as Rolldown.RolldownOutput
  return new Map(output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])))
}

/** Returns the size of a chunk and all chunks that it imports at once. */
const sizeOf = (all: ReadonlyMap<string, Rolldown.OutputChunk>, names: readonly string[]): number => {
  const loaded = new Set<string>()
  const load = (name: string): void => {
    const chunk = all.get(name)
    if (!chunk || loaded.has(name)) return
    loaded.add(name)
    chunk.imports.forEach(load)
  }
  names.forEach(load)
  return [...loaded].reduce((sum, name) => sum + gzipSync(all.get(name)?.code ?? '', { level: 9 }).length, 0)
}

it('the page stays small: the sign-in, and the phone after it', async () => {
  const all = await chunks()
  const entry = [...all.values()].find(({ isEntry }) => isEntry)?.fileName ?? ''
  const phone = [...all.keys()].find((name) => name.includes('opening')) ?? ''
  expect(sizeOf(all, [entry])).toBeLessThan(maxStart)
  expect(sizeOf(all, [entry, phone])).toBeLessThan(maxPhone)
})
