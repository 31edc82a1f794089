/**
 * A walk through the whole REST API, as an application developer takes it. Its requests and responses are the
 * examples of the OpenAPI document; `TRUNKLINE_RECORD=1` writes them anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ApiExamples, examplesFile } from '../../gateway/http/requests/openapi-examples.ts'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { DocumentServer } from '../support/documents.ts'
import { noFfmpeg } from '../support/film.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken } from '../support/recorded.ts'
import { tourCalls, tourDomain } from '../support/tour/calls.ts'
import { tourCompat } from '../support/tour/compat.ts'
import { tourEdge } from '../support/tour/edge.ts'
import { formOf } from '../support/tour/form-of.ts'
import { tourPeople } from '../support/tour/people.ts'
import { ApiRecorder } from '../support/tour/recorder.ts'
import { tourResources } from '../support/tour/resources.ts'
import { streamOperations, tourRooms } from '../support/tour/rooms.ts'

let gateway: Gateway
let documents: DocumentServer
let streams: TestStreamServer
let browser: Browser
let api: ApiRecorder

/** Returns the error responses of each operation by status. Their texts do not differ from run to run. */
const errorsOf = (examples: ApiExamples): unknown =>
  Object.entries(examples).map(([id, { responses }]) => [
    id,
    Object.entries(responses).filter(([status]) => Number(status) >= 400),
  ])

beforeAll(async () => {
  documents = await DocumentServer.open()
  streams = await TestStreamServer.open()
  gateway = await Gateway.start({
    http: { apiToken },
    domains: [application(tourDomain, scripted('answer', { sleep: -1 }))],
    sip: { registrar: { domains: ['phones.example'] } },
    endpoints: [],
    limits: { api: { perToken: 100_000, perAddress: 100_000 } },
  })
  browser = await Browser.start(440)
  api = await ApiRecorder.open(gateway)
  api.stable.rename(new URL(documents.urlOf('/')).origin, 'https://app.example.com')
  api.stable.rename(new URL(streams.url).origin, 'wss://app.example.com')
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  await documents?.close()
  await streams?.close()
})

it('resources of each kind are created, read, changed and removed', () => tourResources(api))

it('domain applications, carriers and endpoints of phones are managed', () => tourEdge(api))

it('people sign in, register devices and write messages', () => tourPeople(api))

it('a call is placed, controlled, recorded and found in the records', () => tourCalls(api, streams, browser))

it('the XML family places and controls calls, conferences and queues', () =>
  tourCompat(api, documents, streams))

it('video rooms are created, and their sessions are controlled and found in the history', () =>
  tourRooms(api))

it('every operation has examples, and they have the form of the present responses', () => {
  const { examples } = api
  const isToured = (id: string) => noFfmpeg === undefined || !streamOperations.test(id)
  expect(api.operationIds.filter((id) => !examples[id] && isToured(id))).toEqual([])
  if (process.env.TRUNKLINE_RECORD) writeFileSync(examplesFile, `${JSON.stringify(examples, null, 2)}\n`)
  const all = JSON.parse(readFileSync(examplesFile, 'utf8')) as ApiExamples
  const written = Object.fromEntries(Object.entries(all).filter(([id]) => isToured(id)))
  expect(formOf(examples)).toEqual(formOf(written))
  expect(errorsOf(examples)).toEqual(errorsOf(written))
})
