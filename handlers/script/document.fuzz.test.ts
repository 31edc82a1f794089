import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { FakeCall } from '../testing/fake-call.ts'
import { FakeContext } from '../testing/fake-context.ts'
import { TestScripts } from '../testing/test-scripts.ts'
import { CallEnded } from '../verbs.ts'
import { readScriptDocument } from './document.ts'
import { methods } from './methods/index.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const names = [...methods.keys()]
const parameters = [
  ...new Set([...methods.values()].flatMap(({ properties }) => Object.keys(properties))),
  'when',
  'then',
  'else',
  'variable',
  'case',
  'default',
  '__proto__',
  'constructor',
]
const texts = [
  'say:a',
  '+1',
  'sip:a@b',
  'main',
  '%{call.from}',
  '%{',
  '%{1}',
  'https://x.example',
  'true',
  '5',
  '#',
  '',
]

/** Valid and invalid values of scripts, with nested steps. */
const { step } = fc.letrec<{ value: unknown; step: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(...texts, 0, -1, 5, 99_999, 1.5, true, false, null),
    fc.string({ maxLength: 12 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(tie('step'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...parameters), tie('value'), { maxKeys: 4 }),
  step: fc.oneof(
    fc.constantFrom<unknown>(...names),
    fc.tuple(fc.constantFrom(...names), tie('value')).map(([name, value]) => ({ [name]: value })),
    fc.tuple(fc.constantFrom(...names), tie('object')).map(([name, value]) => ({ [name]: value })),
  ),
}))

it('any script is read, or rejected with the location of each fault', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4 }), (main) => {
      const text = JSON.stringify({ sections: { main } })
      try {
        readScriptDocument({ text })
      } catch (error) {
        if (!(error instanceof DocumentInvalid)) throw error
        for (const { code, line, path } of error.faults) {
          expect(code).toMatch(/^relay_script_/)
          expect(line).toBe(1)
          expect(path).toMatch(/^(\/|$)/)
        }
      }
    }),
    { numRuns: 500 },
  )
})

it('any text is read or rejected', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.json(), fc.string({ unit: fc.constantFrom(...'{}[]:,-&*!"\'|>?% \n\tab') })),
      (text) => {
        try {
          readScriptDocument({ text })
        } catch (error) {
          if (!(error instanceof DocumentInvalid)) throw error
        }
      },
    ),
    { numRuns: 300 },
  )
})

it('any valid script runs to its end', async () => {
  const ended = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (main) => {
    const text = JSON.stringify({ sections: { main } })
    try {
      readScriptDocument({ text })
    } catch {
      return
    }
    const call = new FakeCall()
    // An endless wait ends with the call.
    call.sleep = async () => {
      call.end()
      throw new CallEnded()
    }
    await scripts.handler.run(call, { kind: 'inline', text, name: 'test' }, new FakeContext())
  })
  await fc.assert(ended, { numRuns: 300, examples: [[[{ sleep: -1 }]]] })
})
