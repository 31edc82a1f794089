import { describe, expect, it } from 'vitest'
import { checkDocument } from '../check.ts'
import { DocumentInvalid } from '../handler.ts'
import { FakeCall } from '../testing/fake-call.ts'
import { runXml } from '../testing/run-xml.ts'
import { readXmlDocument } from './document.ts'
import { Templates } from './templates.ts'

const said = ({ verbs }: FakeCall) => verbs.filter(([name]) => name === 'play').map(([, options]) => options)

describe('a document that is kept here', () => {
  it('has the fields of its request in place of {{Name}}, in texts and attributes', async () => {
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

  it('takes a field for what it is, and not for markup', async () => {
    const evil = '</Say><Hangup/><Say>&amp; "quoted" {{To}}'
    const { call } = await runXml('<Say>{{CallerName}}</Say><Say voice="{{CallerName}}">x</Say>', {
      call: new FakeCall({ fromName: evil }),
    })
    expect(call.names).toEqual(['play', 'play'])
    expect(JSON.stringify(said(call))).toContain('<Hangup/>')
    expect(JSON.stringify(said(call))).toContain('{{To}}')
  })

  it('has what the calling page said in it, and takes that for a text too', async () => {
    const userVariables = { who: '</Say><Hangup/><Say>{{To}}' }
    const { call } = await runXml('<Say>{{UserVariable_who}}</Say>', {
      call: new FakeCall({ type: 'webrtc', userVariables }),
    })
    expect(said(call)).toMatchObject([{ sounds: [{ text: userVariables.who }] }])
  })

  it('has nothing in place of what is no field', async () => {
    const { call } = await runXml('<Say>a{{Nobody}}b{{constructor}}c</Say><Say>{{ 1 }} {{}} {x}</Say>')
    expect(said(call)).toMatchObject([
      { sounds: [{ text: 'abc' }] },
      { sounds: [{ text: '{{ 1 }} {{}} {x}' }] },
    ])
  })

  it('does not run where the fields make too much of it', () => {
    const text = `<Response>${'<Say voice="{{A}}">x</Say>'.repeat(7)}</Response>`
    const filled = () => readXmlDocument({ text }, { A: 'x'.repeat(10_000) })
    expect(filled).toThrow(DocumentInvalid)
    expect(filled).toThrow(expect.objectContaining({ faults: [expect.objectContaining({ code: '11750' })] }))
    expect(readXmlDocument({ text }, { A: 'x'.repeat(9_000) }).verbs).toHaveLength(7)
  })

  it('is checked when it is kept, but for what a field will say', () => {
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

it('leaves what a server answers as it is', async () => {
  const { call } = await runXml('<Say>{{From}}</Say>', { at: '/self' })
  expect(said(call)).toMatchObject([{ sounds: [{ text: '{{From}}' }] }])
})

it('fills in no more than 64 kB, all texts together', () => {
  const templates = new Templates({ A: 'x'.repeat(40_000) })
  expect(templates.fill('{{A}}')).toHaveLength(40_000)
  expect(templates.fill('{{A}}')).toBeUndefined()
})
