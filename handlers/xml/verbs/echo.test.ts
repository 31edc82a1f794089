import { expect, it } from 'vitest'
import { runXml } from '../../testing/run-xml.ts'

it('returns the audio of the caller for a minute, or for timeout', async () => {
  const { call, context } = await runXml('<Echo/><Echo timeout="5"/><Say>Bye</Say>')
  expect(call.verbs.slice(0, 2)).toEqual([
    ['echo', { timeoutMs: 60_000 }],
    ['echo', { timeoutMs: 5_000 }],
  ])
  expect(call.names.slice(2)).toEqual(['play'])
  expect(context.warnings).toEqual([])
})

it.each(['4', '121', 'x'])('treats a timeout of %s as the default, and warns', async (timeout) => {
  const { call, context } = await runXml(`<Echo timeout="${timeout}"/>`)
  expect(call.verbs[0]).toEqual(['echo', { timeoutMs: 60_000 }])
  expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Echo[1]/@timeout' }])
})
