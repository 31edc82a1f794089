import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { carryOut, finish, type Move } from './testing/conversation-moves.ts'
import { ConversationWorld, isBeginning } from './testing/conversation-world.ts'
import type { FakeAbilities } from './testing/fake-engine.ts'
import { wordList } from './text/words.ts'

const kinds = wordList(
  'turn,turn,turn,engine,engine,engine,engine,engine,engine,engine,wait,wait,wait,wait,wait,voice',
  'voice,partial,final,key,say,say,message,result,result,late,fail,closing,hold,unhold,ready,change,over',
)

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 60, arbitrary: fc.constantFrom(...kinds) },
      { weight: 1, arbitrary: fc.constantFrom('leave', 'hang up') },
    ),
    n: fc.nat(7),
  }),
  { minLength: 5, maxLength: 60, size: 'max' },
)

const abilities: fc.Arbitrary<FakeAbilities> = fc.record({
  turns: fc.constantFrom('ours', 'ours', 'its'),
  cut: fc.constantFrom('note', 'truncate'),
  changes: fc.boolean(),
})

const settings = fc.record({
  greeting: fc.constantFrom(undefined, { text: 'Good day to you', isInterruptible: false }),
  waitForUser: fc.boolean(),
  bargeFunctions: fc.boolean(),
  isSemantic: fc.boolean(),
  transparentBargeMs: fc.constantFrom(0, 0, 3000),
})

/** Checks what was reported and kept against what left the tap. */
const checkRecord = (world: ConversationWorld): void => {
  for (const { answer, heard, heardMs, spoken } of world.answered) {
    expect(isBeginning(heard, spoken)).toBe(true)
    const audio = world.audioOf(answer)
    if (!audio) {
      expect([heardMs, heard]).toEqual([0, ''])
      continue
    }
    expect(heardMs).toBeLessThanOrEqual(Math.ceil(audio.sentMs))
    expect(Math.abs(heardMs - audio.playedMs)).toBeLessThanOrEqual(60)
  }
}

/** The history has each answer with the words that were heard. */
const checkHistory = (world: ConversationWorld): void => {
  const kept = world.conversation
    .request()
    .history.flatMap((message) =>
      message.role === 'assistant' && message.content !== '' ? message.content : [],
    )
  const heard = world.answered.map((answer) => answer.heard).filter((text) => text !== '')
  expect(kept.sort()).toEqual(heard.sort())
}

const checkFunctions = (world: ConversationWorld): void => {
  const isVoid = new Set(world.calls.filter((each) => each.isVoid).map(({ call }) => call.args))
  expect(world.ran.filter((args) => isVoid.has(args))).toEqual([])
  expect(new Set(world.ran).size).toBe(world.ran.length)
  const reported = world.events.flatMap((event) => (event.kind === 'function' ? event.call.args : []))
  expect(new Set(reported).size).toBe(reported.length)
  if (world.isOver) return
  const wanted = world.calls.filter((each) => !each.isVoid)
  expect(reported.sort()).toEqual(wanted.map(({ call }) => call.args).sort())
}

describe('conversation, for any order of events', () => {
  it('keeps its promises', async () => {
    await fc.assert(
      fc.asyncProperty(abilities, fc.boolean(), settings, moves, async (able, knows, set, schedule) => {
        const { greeting, waitForUser, ...turns } = set
        const world = new ConversationWorld(able, knows, {
          turns,
          waitForUser,
          ...(greeting && { greeting }),
        })
        world.ready()
        await world.settle()
        for (const move of schedule) {
          await carryOut(world, move)
          await world.settle()
        }
        await finish(world)
        expect([world.faults, world.errors]).toEqual([[], []])
        // Some state from which nothing happens would have lasted.
        expect(world.isOver || world.conversation.isQuiet).toBe(true)
        world.quiet()
        await world.settle()
        expect(world.pending).toBe(0)
        checkRecord(world)
        checkFunctions(world)
        if (turns.transparentBargeMs === 0) checkHistory(world)
        world.conversation.hangUp()
        await world.settle()
        expect(world.clock.running).toBe(0)
        expect(world.events.at(-1)?.kind).toBe('ended')
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})
