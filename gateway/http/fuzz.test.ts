import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiTestSite, asProject, ours } from './testing/api-test-site.ts'
import { judgeBy, type Operation, operationsOf } from './testing/openapi-operations.ts'
import { type Request, requestsOf } from './testing/sample-requests.ts'
import { makeSampleResources } from './testing/sample-resources.ts'

/** Requests of each operation, and the seed of all of them. */
const numRuns = 15
const seed = 6_000_006

let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

it('every request gets a response of the OpenAPI document, and never 5xx', {
  timeout: 300_000,
}, async () => {
  const document = (await rig.site.inject('/openapi.json')).json()
  const judge = judgeBy(document)
  const credentials = {
    project: asProject().authorization,
    subscriber: `Bearer ${await rig.tokenOf('alice@example.test', ours, 86_400)}`,
  }
  let n = 0
  const faults = new Map<string, { readonly fault: string; readonly request: Request }>()
  const operations = operationsOf(document)
  const removes = ({ method }: Operation) => method === 'DELETE'
  let things = await makeSampleResources(rig, ours, 'first')
  for (const operation of [...operations.filter((one) => !removes(one)), ...operations.filter(removes)]) {
    // What was removed is there again.
    if (removes(operation)) things = await makeSampleResources(rig, ours, `${n++}`)
    const ask = async (request: Request) => {
      const fault = judge(operation, await rig.site.inject(request))
      // One of each kind is enough to be mended.
      const name = `${operation.method} ${operation.path}: ${fault}`
      if (fault && !faults.has(name)) faults.set(name, { fault, request })
      rig.clock.advance(1000)
    }
    await fc.assert(fc.asyncProperty(requestsOf(operation, { things, credentials }), ask), { seed, numRuns })
  }
  const reports = [...faults].map(
    ([name, { request }]) => `${name}\n  ${JSON.stringify(request).slice(0, 400)}`,
  )
  expect(reports).toEqual([])
  const logged = rig.lines.filter((line) => JSON.parse(line).level >= 50)
  expect(logged).toEqual([])
})
