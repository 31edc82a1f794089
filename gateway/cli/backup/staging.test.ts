import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withStaging } from './staging.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-staging-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

it('removes the folder after the work, and after a fault', async () => {
  const made: string[] = []
  const work = async (staging: string) => {
    made.push(staging)
    expect(existsSync(staging)).toBe(true)
    if (made.length === 2) throw new Error('broken')
    return 7
  }
  expect(await withStaging(join(folder, 'x-'), work)).toBe(7)
  await expect(withStaging(join(folder, 'x-'), work)).rejects.toThrow('broken')
  expect(readdirSync(folder)).toEqual([])
})

it.each(['SIGINT', 'SIGTERM'] as const)('removes the folder and the files at %s', async (signal) => {
  const listeners = process.listeners(signal)
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const part = join(folder, 'part')
  writeFileSync(part, '')
  const work = async () => {
    const added = process.listeners(signal).filter((listener) => !listeners.includes(listener))
    expect(added).toHaveLength(1)
    added[0]?.(signal)
    expect(readdirSync(folder)).toEqual([])
  }
  await withStaging(join(folder, 'x-'), work, [part])
  expect(exit).toHaveBeenCalledWith(130)
  expect(process.listeners(signal)).toEqual(listeners)
})
