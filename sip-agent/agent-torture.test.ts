import { describe, expect, it } from 'vitest'
import { read4475, read5118, rfc4475, rfc5118, tortureNote, torturePresent } from './testing/torture.ts'
import { WholeAgent } from './testing/whole-agent.ts'

/** Reaction of an agent without state to one datagram. */
const outcomeOf = async (bytes: Buffer): Promise<'application' | 'dropped' | number> => {
  const whole = await WholeAgent.start()
  try {
    await whole.send(bytes)
    await whole.settle()
    const { answers, delivered } = whole.take()
    expect(whole.faults).toEqual([])
    expect(answers.length + delivered.length).toBeLessThanOrEqual(1)
    if (delivered.length > 0) return 'application'
    return answers[0] === undefined ? 'dropped' : Number(answers[0].split(' ')[1])
  } finally {
    await whole.close()
    expect([whole.agent.stats.transactions, whole.timers.running]).toEqual([0, 0])
  }
}

describe.skipIf(!torturePresent)(`the agent under RFC 4475${tortureNote}`, () => {
  it.each(rfc4475)('handles %s (%s)', async (_section, file, _parser, agent) => {
    expect(await outcomeOf(read4475(file))).toBe(agent)
  })
})

describe.skipIf(!torturePresent)(`the agent under RFC 5118${tortureNote}`, () => {
  it.each(rfc5118)('handles %s (%s)', async (_section, file, _parser, agent) => {
    expect(await outcomeOf(read5118(file))).toBe(agent)
  })
})
