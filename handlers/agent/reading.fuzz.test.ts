import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FakeContext } from '../testing/fake-context.ts'
import { runDataMap } from './data-map.ts'
import { readAgent } from './document.ts'
import type { Json } from './document-types.ts'
import { readReply } from './function-reply.ts'
import { functionRequest, readArguments } from './function-request.ts'
import { readInclude } from './includes.ts'
import { translatePattern } from './patterns.ts'
import { fill } from './templates.ts'
import { contextsDemo, infoGatherer, skills } from './testing/documents.ts'

/** Returns all keys of a value, at every depth. */
const keysOf = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null
    ? [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(keysOf)]
    : []

const keys = [
  ...new Set([
    ...keysOf([infoGatherer, skills, contextsDemo]),
    ...'multilingual allowed start_language convo enable_barge hard_stop_time attention_timeout'.split(' '),
    ...'static_greeting gather_info reset user_pom action response post_process SWML transfer hold'.split(
      ' ',
    ),
    ...'toggle_functions settings add_dynamic_hints wait_for_user foreach expressions string pattern'.split(
      ' ',
    ),
    ...'__proto__ constructor toString length'.split(' '),
  ]),
]
const leaves = [
  'true',
  '-1',
  '1h',
  'none',
  '%{args.a}',
  '%{',
  'lc:',
  'https://a.example',
  'https://%{a}',
  '',
  '/a/i',
]

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom<unknown>(...leaves, 0, -5, 1e308, 1.5, true, false, null),
    fc.string({ maxLength: 10 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6 }),
  ),
}))

/** Returns a document in which the value at a place, counted in depth, is replaced. */
const replaced = (document: unknown, place: number, other: unknown): unknown => {
  let left = place
  const text = JSON.stringify(document, (_key, each) => {
    left -= 1
    return left === -1 ? other : each
  })
  return text === undefined ? undefined : JSON.parse(text)
}

/** Document of the SDK with one wrong value. */
const changed = fc
  .tuple(fc.constantFrom<unknown>(infoGatherer, skills, contextsDemo), fc.nat(150), value)
  .map(([document, place, other]) => replaced(document, place, other))

const request = {
  callId: 'c',
  sessionId: 's',
  projectId: 'p',
  appName: 'a',
  callerName: '',
  callerNumber: '',
}

it('any document is read, or has faults', () => {
  fc.assert(
    fc.property(fc.oneof(value, changed), (json) => {
      const { document, faults, warnings } = readAgent(json)
      expect(document === undefined).toBe(faults.length > 0)
      for (const { path, message } of [...faults, ...warnings]) {
        expect(path).toMatch(/^(\/|$)/)
        expect(message.length).toBeLessThan(200)
      }
      for (const definition of document?.functions ?? [])
        JSON.stringify(functionRequest(definition, readArguments('{}'), { ...request, metaData: {} }))
    }),
    { numRuns: 1500 },
  )
})

it('any reply and any include is read', () => {
  fc.assert(
    fc.property(fc.oneof(value, fc.json()), (json) => {
      const { effects } = readReply(json)
      expect(readReply({ action: json, response: json }).effects.length).toBeGreaterThanOrEqual(0)
      for (const { kind } of effects) expect(kind).toMatch(/^[a-z-]+$/)
      readInclude(json, { target: { url: 'https://a.example' }, functions: [] })
      readArguments(typeof json === 'string' ? json : JSON.stringify(json))
    }),
    { numRuns: 1500 },
  )
})

it('any value is filled, and any data map ends', async () => {
  await fc.assert(
    fc.asyncProperty(value, value, async (template, values) => {
      const scope = typeof values === 'object' && values !== null ? (values as Json) : {}
      fill(template, scope, 0)
      const map = { expressions: template, webhooks: [template, template], output: values }
      const context = new FakeContext()
      for (let count = 0; count < 2; count++)
        context.answers.push({ status: 200, headers: {}, text: JSON.stringify(values) })
      const { reply } = await runDataMap(map, scope, {
        request: (sent) => context.request(sent),
        matches: async (pattern, ignoreCase) =>
          translatePattern({ source: pattern, ignoreCase }).source.length > 3,
        now: () => 0,
      })
      expect(reply.effects).toBeDefined()
    }),
    { numRuns: 800 },
  )
})

it('any pattern is translated', () => {
  const part = fc.constantFrom(
    ...'\\ [ ] ( ) (? (?i) (?P< + * { } # a : \\Q \\E \\x{ \\p{ [: :] ^'.split(' '),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(part).map((parts) => parts.join('')),
        fc.string(),
      ),
      (pattern) => {
        const { source } = translatePattern({ source: pattern, ignoreCase: false })
        expect(source.length).toBeLessThanOrEqual(pattern.length * 12 + 16)
      },
    ),
  )
})
