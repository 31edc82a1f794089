import { describe, expect, it } from 'vitest'
import { dial, joined } from '../rtp/testing/dtmf-tones.ts'
import type { MachineRequest } from '../types.ts'
import { AudioDetector } from './audio-detector.ts'
import { foundIn, listenTo, quiet, talk, tone } from './testing/detection-sounds.ts'

const machine: MachineRequest = {
  initialTimeoutMs: 4500,
  endSilenceMs: 1000,
  readyTimeoutMs: 1000,
  voiceThresholdMs: 1250,
  wordsThreshold: 6,
  waitForEnd: true,
}
const keys = (digits: string): Int16Array =>
  dial(
    8000,
    [...digits].map((key) => ({
      key,
      ms: 100,
      pauseMs: 100,
      rowDb: -12,
      twistDb: 2,
      rowOff: 0,
      columnOff: 0,
    })),
    30,
    3,
  )

describe('the audio detector', () => {
  it('finds the first of the requested keys', () => {
    expect(foundIn(joined([quiet(200), keys('4715')]), { digits: '123' })).toEqual(['1', 'over'])
    expect(foundIn(keys('4567'), { digits: '123' })).toEqual([])
  })

  it('finds the first of a machine, a fax and a key', () => {
    const all = { machine, fax: 'CED', digits: '5' } as const
    expect(foundIn(joined([quiet(2000), tone(2100, 3000)]), all)).toEqual(['CED', 'over'])
    expect(foundIn(joined([quiet(2000), keys('5')]), all)).toEqual(['5', 'over'])
    expect(foundIn(quiet(6000), all)).toEqual(['unknown', 'over'])
  })

  it('finds the rhythm of a calling fax during silence', () => {
    const cng = joined([tone(1100, 500), quiet(3000), tone(1100, 500), quiet(3000)])
    expect(foundIn(joined([quiet(4000), cng]), { machine, fax: 'CNG' })).toEqual(['CNG', 'over'])
  })

  it('distinguishes the answer tone of a fax from a beep', () => {
    const fax = joined([talk(2000), quiet(300), tone(2100, 3000)])
    expect(foundIn(fax, { machine, fax: 'CED' })).toEqual(['machine', 'CED', 'over'])
    const beep = joined([talk(2000), quiet(300), tone(2100, 700), quiet(200)])
    expect(foundIn(beep, { machine, fax: 'CED' })).toEqual(['machine', 'beep', 'over'])
  })

  it('counts a missing packet as silence, and reports nothing after the end', () => {
    const found: string[] = []
    const listening = new AudioDetector({ machine }, ({ kind }) => found.push(kind))
    for (let i = 0; i < 225; i++) listening.write(undefined)
    expect([listening.hasEnded, found]).toEqual([true, ['unknown']])
    for (let i = 0; i < 225; i++) listening.write(undefined)
    expect(found).toEqual(['unknown'])
    expect(listenTo(quiet(4480), { machine })).toEqual([])
  })
})
