import { brotliCompressSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, it, onTestFinished, vi } from 'vitest'

/** Largest size of the scripts of the sign-in, in bytes as served (Brotli). */
const maxSignIn = 15_000

/**
 * Largest size of all scripts that a user needs to sign in, be called, answer, dial, talk and hang up, in
 * bytes as served (Brotli).
 */
const maxPhone = 47_000

const chunks = async (): Promise<ReadonlyMap<string, Rolldown.OutputChunk>> => {
  // Otherwise Vite builds for a test: with larger code for the debugger.
  vi.stubEnv('NODE_ENV', 'production')
  onTestFinished(() => void vi.unstubAllEnvs())
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
  return [...loaded].reduce((sum, name) => sum + brotliCompressSync(all.get(name)?.code ?? '').length, 0)
}

it('the page stays small: the sign-in, and the phone after it', async () => {
  const all = await chunks()
  const entry = [...all.values()].find(({ isEntry }) => isEntry)
  if (!entry) throw new Error('no entry')
  const phone = entry.dynamicImports.filter((name) => name.includes('opening'))
  expect(phone).toHaveLength(1)
  expect(sizeOf(all, [entry.fileName])).toBeLessThan(maxSignIn)
  expect(sizeOf(all, [entry.fileName, ...phone])).toBeLessThan(maxPhone)
})

it('messages, past calls, settings, transfer, video, rooms and other languages are loaded on demand', async () => {
  const all = await chunks()
  const later = [
    'chats',
    'recents',
    'settings',
    'dialogs',
    'picture',
    'room',
    'keypad',
    'extras',
    'account-menu',
    'screen-share',
    'de',
  ]
  for (const name of later)
    expect(
      [...all.keys()].some((file) => file.includes(`/${name}-`)),
      name,
    ).toBe(true)
})

it('the styles of rooms are loaded with them', async () => {
  const all = await chunks()
  const room = [...all.values()].filter(({ viteMetadata }) =>
    [...(viteMetadata?.importedCss ?? [])].some((file) => file.includes('/room-')),
  )
  expect(room.map(({ isDynamicEntry }) => isDynamicEntry)).toEqual([true])
})
