import { expect, it } from 'vitest'
import { inviteText } from '../testing/messages.ts'
import { StreamFramer } from '../transport/framer.ts'
import { checkMessage } from './check.ts'
import { SipParseError } from './error.ts'
import { defaultLimits } from './limits.ts'
import { parseDatagram } from './parse.ts'
import { serialiseMessage } from './serialise.ts'

/** A small generator with a fixed seed (mulberry32), so that a failure can be had again. */
const generator = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

const pieces = [
  '\r\n',
  '\n',
  ';',
  ',',
  '"',
  '<',
  '>',
  '\\',
  ':',
  '@',
  '%',
  '[',
  ']',
  '=',
  ' ',
  '\t',
  '\0',
  'é',
  '\r\n ',
]

const mutate = (source: Buffer, random: () => number): Buffer => {
  let bytes = Buffer.from(source)
  const count = 1 + Math.floor(random() * 4)
  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * bytes.length)
    const length = Math.floor(random() * 12)
    const kind = Math.floor(random() * 4)
    const piece = Buffer.from(pieces[Math.floor(random() * pieces.length)] as string)
    const head = bytes.subarray(0, at)
    if (kind === 0) bytes = Buffer.concat([head, bytes.subarray(at + length)])
    else if (kind === 1) bytes = Buffer.concat([head, piece, bytes.subarray(at)])
    else if (kind === 2) bytes = Buffer.concat([head, bytes.subarray(at, at + length), bytes.subarray(at)])
    else bytes[at] = Math.floor(random() * 256)
  }
  return bytes
}

const onlyOwnErrors = (run: () => void): boolean => {
  try {
    run()
    return true
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error
    return false
  }
}

it('throws nothing but its own error at 4,000 damaged messages, and takes back what it writes', () => {
  const random = generator(20261121)
  const source = Buffer.from(inviteText)
  let accepted = 0
  for (let i = 0; i < 4_000; i++) {
    const bytes = mutate(source, random)
    onlyOwnErrors(() => {
      const message = checkMessage(parseDatagram(bytes))
      accepted++
      const again = checkMessage(parseDatagram(serialiseMessage(message)))
      expect([again.callId, again.fromTag, again.seq]).toEqual([message.callId, message.fromTag, message.seq])
    })
  }
  // Some damage is harmless, most is not: both must have happened for the test to mean anything.
  expect(accepted).toBeGreaterThan(200)
  expect(accepted).toBeLessThan(3_800)
})

it('frames 1,000 damaged streams, cut anywhere, without any other error', () => {
  const random = generator(7)
  const source = Buffer.from(inviteText + inviteText)
  for (let i = 0; i < 1_000; i++) {
    const bytes = mutate(source, random)
    const cut = Math.floor(random() * bytes.length)
    onlyOwnErrors(() => {
      const framer = new StreamFramer(defaultLimits)
      for (const chunk of [bytes.subarray(0, cut), bytes.subarray(cut)]) for (const _ of framer.push(chunk));
    })
  }
})
