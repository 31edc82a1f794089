import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SpeechFolder } from './speech-folder.ts'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'speech-'))
})
afterEach(() => rmSync(path, { recursive: true, force: true }))

const speech = (value: number, count = 100) => new Int16Array(new SharedArrayBuffer(count * 2)).fill(value)
const names = () => readdirSync(path)
/** Later than any file. */
const now = () => 4_000_000_000_000
const open = (maxBytes = 1000) => {
  const faults: Error[] = []
  const onFault = (error: Error) => faults.push(error)
  return { faults, folder: new SpeechFolder({ path, maxBytes, now, onFault }) }
}

it('keeps speech across a restart, by key and rate', async () => {
  const { folder } = open()
  expect(await folder.get('a', 8000)).toBeUndefined()
  await folder.set('a', 8000, speech(7))
  const again = open().folder
  const samples = await again.get('a', 8000)
  expect([...samples!]).toEqual(Array.from({ length: 100 }, () => 7))
  expect(samples!.buffer).toBeInstanceOf(SharedArrayBuffer)
  expect(await again.get('a', 16_000)).toBeUndefined()
  expect(names()).toHaveLength(1)
  expect(statSync(join(path, names()[0]!)).mode & 0o077).toBe(0)
})

it('drops the least recently used speech', async () => {
  const { folder } = open(500)
  await folder.set('a', 8000, speech(1))
  await folder.set('b', 8000, speech(2))
  await folder.get('a', 8000)
  await folder.set('c', 8000, speech(3))
  expect(await Promise.all(['a', 'b', 'c'].map(async (key) => (await folder.get(key, 8000))?.[0]))).toEqual([
    1,
    undefined,
    3,
  ])
  expect(names()).toHaveLength(2)
  await folder.set('d', 8000, speech(4, 1000))
  expect(await folder.get('d', 8000)).toBeUndefined()
})

describe('after a restart', () => {
  /** Two files written long ago, one after the other. */
  const twoOld = async () => {
    const { folder } = open(500)
    const files: string[] = []
    for (const [i, key] of ['a', 'b'].entries()) {
      await folder.set(key, 8000, speech(i))
      files.push(names().find((name) => !files.includes(name))!)
      utimesSync(join(path, files[i]!), i + 1, i + 1)
    }
    return { folder: open(500).folder, files }
  }

  it('drops the least recently used, not the first written', async () => {
    const { folder, files } = await twoOld()
    await folder.get('a', 8000)
    await folder.close()
    const again = open(500).folder
    await again.set('c', 8000, speech(3))
    expect(names()).toContain(files[0])
    expect(names()).not.toContain(files[1])
  })

  it('counts uses from memory', async () => {
    const { folder, files } = await twoOld()
    await folder.used('a')
    await folder.used('never stored')
    await open(500).folder.set('c', 8000, speech(3))
    expect(names()).toContain(files[0])
    expect(names()).not.toContain(files[1])
  })

  it('respects a lowered limit', async () => {
    const { files } = await twoOld()
    await open(300).folder.get('a', 8000)
    expect(names()).toEqual([files[1]])
  })
})

it('ignores damaged and foreign files, and removes incomplete ones', async () => {
  const { folder } = open()
  await folder.set('a', 8000, speech(1))
  writeFileSync(join(path, names()[0]!), 'TLS1')
  const half = `${randomUUID()}.tmp`
  for (const name of [half, 'notes.txt', 'mine.tmp']) writeFileSync(join(path, name), name)
  const { folder: again, faults } = open()
  expect(await again.get('a', 8000)).toBeUndefined()
  expect(faults).toEqual([])
  expect(names()).not.toContain(half)
  expect(names()).toEqual(expect.arrayContaining(['notes.txt', 'mine.tmp']))
})

it('reports an unusable folder, and continues without it', async () => {
  const file = join(path, 'file')
  writeFileSync(file, '')
  const faults: Error[] = []
  const onFault = (error: Error) => faults.push(error)
  const folder = new SpeechFolder({ path: file, maxBytes: 1000, now, onFault })
  await folder.set('a', 8000, speech(1))
  expect(await folder.get('a', 8000)).toBeUndefined()
  expect(faults.length).toBeGreaterThan(0)
})
