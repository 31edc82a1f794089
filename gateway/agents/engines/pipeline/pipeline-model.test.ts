import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FakeModel } from './testing/fake-parts.ts'
import { opened, settle } from './testing/open-pipeline.ts'

type Session = Awaited<ReturnType<typeof opened>>

const actions = {
  commit: ({ link }: Session) => link.commit('one'),
  commitOther: ({ link }: Session) => link.commit('two'),
  prepare: ({ link }: Session) => link.prepare('one'),
  discard: ({ link }: Session) => link.discard(),
  say: ({ link }: Session) => link.say('Exactly these words.'),
  answer: ({ link }: Session) => link.answer('Say it.'),
  message: ({ link }: Session) => link.message({ role: 'user', content: 'three' }, true),
  interrupt: ({ link }: Session) => link.interrupt(undefined, false),
  forget: ({ link }: Session) => link.interrupt(undefined, true),
  write: ({ model }: Session) => model.answers.at(-1)?.write('Some words of it. '),
  writeOld: ({ model }: Session) => model.answers.at(-2)?.write('Older words. '),
  end: ({ model }: Session) => end(model),
  call: ({ model }: Session) => end(model, `f${model.answers.length}`),
  settle: () => {},
} as const

const ended = new WeakSet<object>()

/** Ends the last answer, once. */
const end = (model: FakeModel, ...names: readonly string[]) => {
  const answer = model.answers.at(-1)
  if (!answer || ended.has(answer)) return
  ended.add(answer)
  answer.end(...names)
}

/** Gives results to the calls that were reported and have none. */
const answerCalls = ({ log, link }: Session, answered: Set<string>) => {
  for (const line of log.lines) {
    const [, name] = /^\S+ calls (\S+)$/.exec(line) ?? []
    if (!name || answered.has(name)) continue
    answered.add(name)
    link.result({ id: `id-${name}`, name, args: '{}' }, 'done', true)
  }
}

/** Checks that answers are delivered one after the other, and each call once. */
const check = (lines: readonly string[]) => {
  const over = new Set<string>()
  let speaking: string | undefined
  for (const line of lines) {
    const [first = '', verb = ''] = line.split(' ')
    const answer = first.replace(/\d+$/, '')
    expect(over.has(answer), `${line} after its end`).toBe(false)
    if (verb === 'text' || verb === 'audio') {
      expect(speaking ?? answer, `${line} while another is spoken`).toBe(answer)
      speaking = answer
    }
    if (['completed', 'cancelled', 'incomplete', 'failed'].includes(verb)) {
      over.add(answer)
      if (speaking === answer) speaking = undefined
    }
  }
  const calls = lines.filter((line) => line.includes(' calls '))
  expect(new Set(calls).size).toBe(calls.length)
}

/** Checks that each call in a request has one result at most, and that no answer is there twice. */
const checkRequests = (model: FakeModel) => {
  for (const { request } of model.answers) {
    const results = request.messages.flatMap((each) => (each.role === 'tool' ? [each.callId] : []))
    expect(new Set(results).size).toBe(results.length)
    expect(request.messages[0]).toEqual({ role: 'system', content: 'Be kind.' })
  }
}

test('the end of an interrupted answer comes before the next answer', async () => {
  const session = await opened()
  actions.commit(session)
  await settle()
  for (const name of ['write', 'end', 'commit', 'interrupt', 'commit', 'write'] as const)
    actions[name](session)
  await settle()
  check(session.log.lines)
  expect(session.log.lines.findIndex((line) => line.includes(' cancelled'))).toBeGreaterThan(0)
})

test('whatever happens, one answer is spoken at a time, and each call is made once', async () => {
  const action = fc.constantFrom(...(Object.keys(actions) as (keyof typeof actions)[]))
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (names) => {
      const session = await opened()
      const answered = new Set<string>()
      for (const name of names) {
        actions[name](session)
        if (name === 'settle') {
          await settle()
          answerCalls(session, answered)
        }
      }
      await settle()
      check(session.log.lines)
      checkRequests(session.model)
      session.link.close()
      expect(session.clock.running).toBe(0)
      expect(session.model.answers.every((each) => each.isCancelled || ended.has(each))).toBe(true)
    }),
    { numRuns: 300 },
  )
})
