import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Progress, sizeText } from './progress.ts'

const streamOf = (isTTY: boolean) => {
  const written: string[] = []
  const write = (text: unknown): boolean => written.push(stripVTControlCharacters(String(text))) > 0
  return { stream: { isTTY, write } as never, written }
}

it('changes one line of a terminal, ten times a second at most', () => {
  const clock = new FakeClock()
  const { stream, written } = streamOf(true)
  const progress = new Progress('Copying', 2_000_000, stream, clock)
  progress.add(500_000)
  clock.advance(100)
  progress.add(500_000)
  progress.end()
  expect(written).toEqual(['\rCopying   0 %  0 bytes of 2.0 MB', '\rCopying  50 %  1.0 MB of 2.0 MB', '\r'])
})

it('writes one plain line elsewhere', () => {
  const { stream, written } = streamOf(false)
  const progress = new Progress('Copying', 2_000, stream, new FakeClock())
  progress.add(2_000)
  progress.end()
  expect(written).toEqual(['Copying (2.0 kB)\n'])
})

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_400, '1.4 kB'],
  [20_000_000_000, '20.0 GB'],
])('%d bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text))
