import { expect, it } from 'vitest'
import { inviteText } from '../testing/messages.ts'
import { generator, mutate } from '../testing/mutate.ts'
import { StreamFramer } from '../transport/stream-framer.ts'
import { checkMessage } from './check.ts'
import { defaultMessageLimits } from './limits.ts'
import { parseDatagram } from './parse.ts'
import { serialiseMessage } from './serialise.ts'
import { SipParseError } from './sip-parse-error.ts'

const onlyOwnErrors = (run: () => void): boolean => {
  try {
    run()
    return true
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error
    return false
  }
}

it('throws only its own error at 4,000 damaged messages, and parses what it writes', () => {
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
      const framer = new StreamFramer(defaultMessageLimits)
      for (const chunk of [bytes.subarray(0, cut), bytes.subarray(cut)]) for (const _ of framer.push(chunk));
    })
  }
})
