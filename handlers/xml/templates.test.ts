import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { checkDocument } from '../reading/check-document.ts'
import { FakeCall } from '../testing/fake-call.ts'
import { runXml } from '../testing/run-xml.ts'
import { readXmlDocument } from './document.ts'
import { Templates } from './templates.ts'

const said = ({ verbs }: FakeCall) => verbs.filter(([name]) => name === 'play').map(([, options]) => options)

describe('a stored document', () => {
  it('has the fields of its request instead of {{Name}}, in texts and attributes', async () => {
    const { call } = await runXml(
      '<Say language="{{ SipHeader_X-Lang }}">{{From}} calls {{SipUser}}</Say><Say><![CDATA[{{CallSid}}]]></Say>',
      { call: new FakeCall({ headers: [{ name: 'X-Lang', value: 'de-DE' }] }) },
    )
    expect(said(call)).toMatchObject([
      {
        sounds: [{ text: 'sip:+15550001@carrier.example calls +15550002', language: 'de-DE' }],
      },
      { sounds: [{ text: 'c-1' }] },
    ])
  })

  it('inserts a field as text, never as markup', async () => {
    const evil = '</Say><Hangup/><Say>&amp; "quoted" {{To}}'
    const { call } = await runXml('<Say>{{CallerName}}</Say><Say voice="{{CallerName}}">x</Say>', {
      call: new FakeCall({ fromName: evil }),
    })
    expect(call.names).toEqual(['play', 'play'])
    expect(JSON.stringify(said(call))).toContain('<Hangup/>')
    expect(JSON.stringify(said(call))).toContain('{{To}}')
  })

  it('inserts the variables of the calling page as text too', async () => {
    const userVariables = { who: '</Say><Hangup/><Say>{{To}}' }
    const { call } = await runXml('<Say>{{UserVariable_who}}</Say>', {
      call: new FakeCall({ type: 'webrtc', userVariables }),
    })
    expect(said(call)).toMatchObject([{ sounds: [{ text: userVariables.who }] }])
  })

  it('replaces unknown fields by nothing', async () => {
    const { call } = await runXml('<Say>a{{Absent}}b{{constructor}}c</Say><Say>{{ 1 }} {{}} {x}</Say>')
    expect(said(call)).toMatchObject([
      { sounds: [{ text: 'abc' }] },
      { sounds: [{ text: '{{ 1 }} {{}} {x}' }] },
    ])
  })

  it('does not run if the fields make it too long', () => {
    const text = `<Response>${'<Say voice="{{A}}">x</Say>'.repeat(7)}</Response>`
    const filled = () => readXmlDocument({ text }, { A: 'x'.repeat(10_000) })
    expect(filled).toThrow(DocumentInvalid)
    expect(filled).toThrow(expect.objectContaining({ faults: [expect.objectContaining({ code: '11750' })] }))
    expect(readXmlDocument({ text }, { A: 'x'.repeat(9_000) }).verbs).toHaveLength(7)
  })

  it('is checked when stored, except for values of fields', () => {
    const wrong =
      '<Response><Pause length="{{A}}" lenght="1"/><Dial>{{To}}</Dial><Redirect>{{Next}}</Redirect></Response>'
    expect(checkDocument('xml', wrong)).toMatchObject({
      errors: [],
      warnings: [{ path: '/Response/Pause[1]/@lenght' }],
    })
    const { errors } = checkDocument(
      'xml',
      '<Response><Redirect>x y</Redirect><Redirect>{{Next}}</Redirect></Response>',
    )
    expect(errors).toMatchObject([{ code: '11100', path: '/Response/Redirect[1]' }])
  })
})

it('leaves the document of a server unchanged', async () => {
  const { call } = await runXml('<Say>{{From}}</Say>', { at: '/self' })
  expect(said(call)).toMatchObject([{ sounds: [{ text: '{{From}}' }] }])
})

it('inserts at most 64 kB in all texts together', () => {
  const templates = new Templates({ A: 'x'.repeat(40_000) })
  expect(templates.fill('{{A}}')).toHaveLength(40_000)
  expect(templates.fill('{{A}}')).toBeUndefined()
})
