import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DocumentKind, DocumentReport } from '../../../../handlers/reading/check-document.ts'
import { JobFailed } from '../../../../handlers/script/sandbox/job-threads.ts'
import { ApiTestSite, asProject, ours, theirs } from '../../testing/api-test-site.ts'

const base = '/api/fabric/resources'
const filler = 'x'.repeat(600)
const script = { version: '1.0.0', sections: { main: ['answer', { play: { url: `say:${filler}` } }] } }
const xml = `<Response><Say>${filler}</Say></Response>`
const flow = { version: '1.0.0', nodes: { start: { kind: 'start', edges: {} } }, note: filler }
const fine: DocumentReport = { errors: [], warnings: [] }
const wrong: DocumentReport = {
  errors: [{ code: 'bad', message: 'No.', path: '/a', line: 2, column: 3 }],
  warnings: [],
}

let rig: ApiTestSite
/** Kinds of the documents that the reader was given. */
let read: DocumentKind[]
let scriptId: string
let xmlId: string
let flowId: string

const reading = (report: DocumentReport): void => {
  read = []
  rig.reader = {
    check: async (kind) => {
      read.push(kind)
      return report
    },
  }
}

beforeAll(async () => {
  rig = await ApiTestSite.open()
  reading(fine)
  scriptId = (await rig.make(`${base}/swml_scripts`, { name: 'script', contents: script })).id
  xmlId = (await rig.make(`${base}/cxml_scripts`, { display_name: 'xml', contents: xml })).id
  flowId = (await rig.make(`${base}/call_flows`, { title: 'flow' })).id
})
beforeEach(() => reading(fine))
afterAll(() => rig.close())

const form = async (path: string, fields: Record<string, string>) => {
  const answer = await rig.site.inject({
    method: 'POST',
    url: `/api/laml/2010-04-01/Accounts/${ours.id}/${path}`,
    headers: { ...asProject(), 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  })
  return { status: answer.statusCode, body: answer.json() }
}
const id = '6f1c0c34-6a2c-4f57-9d0c-0d6a1a7b5f10'
const call = (body: object) => rig.send('POST', '/api/calling/calls', body)
const numbers = { from: '+15550001', to: '+15550002' }

describe('a document in a request of the API', () => {
  const ways: readonly [string, string, DocumentKind, () => Promise<{ status: number; body: unknown }>][] = [
    [
      'a new script',
      'contents',
      'script',
      () => rig.send('POST', `${base}/swml_scripts`, { name: 'a', contents: script }),
    ],
    [
      'a script that changes',
      'contents',
      'script',
      () => rig.send('PATCH', `${base}/swml_scripts/${scriptId}`, { contents: script }),
    ],
    [
      'a new XML document',
      'contents',
      'xml',
      () => rig.send('POST', `${base}/cxml_scripts`, { display_name: 'a', contents: xml }),
    ],
    [
      'an XML document that changes',
      'contents',
      'xml',
      () => rig.send('PUT', `${base}/cxml_scripts/${xmlId}`, { contents: xml }),
    ],
    [
      'a new call flow',
      'flow_data',
      'flow',
      () => rig.send('POST', `${base}/call_flows`, { title: 'a', flow_data: flow }),
    ],
    [
      'a script in place of a flow',
      'relayml',
      'script',
      () => rig.send('PATCH', `${base}/call_flows/${flowId}`, { relayml: script }),
    ],
    [
      'a script of a call',
      'swml',
      'script',
      () => call({ command: 'dial', params: { ...numbers, swml: script } }),
    ],
    [
      'another script for a call',
      'swml',
      'script',
      () => call({ command: 'update', params: { id, swml: script } }),
    ],
    [
      'a script that a call is transferred to',
      'dest',
      'script',
      () => call({ command: 'calling.transfer', id, params: { dest: JSON.stringify(script) } }),
    ],
    ['a form with a document', 'Contents', 'xml', () => form('LamlBins', { Name: 'a', Contents: xml })],
    ['a form that changes a document', 'Contents', 'xml', () => form(`LamlBins/${xmlId}`, { Contents: xml })],
    [
      'a form of a call',
      'Twiml',
      'xml',
      () => form('Calls', { To: '+15550002', From: '+15550001', Twiml: xml }),
    ],
    ['a form that redirects a call', 'Twiml', 'xml', () => form(`Calls/${id}`, { Twiml: xml })],
  ]

  it.each(ways)('is checked in threads: %s', async (_name, attribute, kind, send) => {
    expect(JSON.stringify(await send())).not.toContain('document_invalid')
    expect(read).toEqual([kind])
    reading(wrong)
    const { status, body } = await send()
    const text = JSON.stringify(body)
    expect(text).toContain('/a (line 2, column 3): No. [bad]')
    // The XML family has its own form of errors, and 400 for what others answer with 422.
    const isOfForms = /^[A-Z]/.test(attribute)
    expect(status).toBe(isOfForms ? 400 : 422)
    expect(text).toContain(isOfForms ? '"code":20422' : `"attribute":"${attribute}"`)
  })
})

it.each([
  ['', 2, 'The document is not valid. (line 2, column 3): No. [bad]'],
  ['', undefined, 'The document is not valid. /: No. [bad]'],
  ['/a', undefined, 'The document is not valid. /a: No. [bad]'],
])('names the place of a fault at path "%s" and line %s', async (path, line, message) => {
  reading({ errors: [{ code: 'bad', message: 'No.', path, ...(line && { line, column: 3 }) }], warnings: [] })
  const { body } = await rig.send('POST', `${base}/swml_scripts`, { name: 'a', contents: script })
  expect(body.errors[0].message).toBe(message)
})

it('gets 503 if the threads are full, and is not stored', async () => {
  rig.reader = { check: async () => Promise.reject(new JobFailed('there is no thread for it')) }
  const change = { name: 'other', contents: script }
  const { status, body } = await rig.send('PATCH', `${base}/swml_scripts/${scriptId}`, change)
  expect([status, body.errors[0].code]).toEqual([503, 'overloaded'])
  const { body: stored } = await rig.send('GET', `${base}/swml_scripts/${scriptId}`)
  expect(stored.display_name).toBe('script')
})

it('gets 429 if its project has too many waiting documents, without affecting another project', async () => {
  let release = (_report: DocumentReport): void => {}
  const until = new Promise<DocumentReport>((resolve) => {
    release = resolve
  })
  rig.reader = { check: () => until }
  const change = (project = ours, path = `swml_scripts/${scriptId}`) =>
    rig.send('PATCH', `${base}/${path}`, { contents: script }, project)
  const taken = Array.from({ length: 101 }, () => change())
  const until429 = await Promise.race([change(), change(), ...taken])
  expect([until429.status, until429.body.errors[0].code]).toEqual([429, 'too_many_requests'])
  const other = rig.send('POST', `${base}/swml_scripts`, { name: 'theirs', contents: script }, theirs)
  release(fine)
  expect((await other).status).toBe(201)
  expect(new Set((await Promise.all(taken)).map(({ status }) => status))).toEqual(new Set([200]))
})

it('gets 404 if its resource is removed during the check', async () => {
  const { id: gone } = await rig.make(`${base}/swml_scripts`, { name: 'gone', contents: script })
  rig.reader = {
    check: async () => {
      await rig.send('DELETE', `${base}/swml_scripts/${gone}`)
      return fine
    },
  }
  expect((await rig.send('PATCH', `${base}/swml_scripts/${gone}`, { contents: script })).status).toBe(404)
})
