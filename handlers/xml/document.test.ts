import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { root, runXml } from '../testing/run-xml.ts'
import { readXmlDocument } from './document.ts'

const base = `${root}/voice/start.xml`
const read = (body: string, url: string | undefined = base) =>
  readXmlDocument({ text: `<Response>${body}</Response>`, url })

/** The faults of a document that must not run. */
const faultsOf = (text: string, more: { url?: string; contentType?: string } = { url: base }) => {
  try {
    readXmlDocument({ text, ...more })
  } catch (error) {
    if (error instanceof DocumentInvalid) return error.faults
    throw error
  }
  throw new Error('the document was accepted')
}

describe('the XML text', () => {
  it.each([
    ['an unclosed element', '<Response>\n  <Say>a</Response>', 2, 9],
    ['a DOCTYPE', '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "b">]><Response/>', 2, 1],
    ['an entity that XML does not have', '<Response>\n <Say>&copy;</Say></Response>', 2, 2],
    ['an entity that is a property of every object', '<Response><Say>&constructor;</Say></Response>', 1, 11],
    ['a comment that is not closed', '<Response>\n<!-- </Response>', 2, 1],
    ['a CDATA section that is not closed', '<Response>\n<![CDATA[</Response>', 2, 1],
    ['a DOCTYPE behind what only looks like CDATA', '<![cdata[<!DOCTYPE r>]]><Response/>', 1, 10],
    ['a character that XML forbids', '<Response><Say>&#0;</Say></Response>', 1, 11],
    ['another root', '<Twiml/>', 1, 1],
    ['two roots', '<Response/>\n<Response/>', 2, 1],
    ['a name that would poison objects', '<Response><__proto__/></Response>', 1, 1],
  ])('is rejected with 12100 and its location for %s', (_what, text, line, column) => {
    expect(faultsOf(text)).toMatchObject([{ code: '12100', line, column }])
  })

  it('reports at most 100 faults', () => {
    expect(read('<A/>'.repeat(13_000)).warnings).toHaveLength(100)
    expect(faultsOf(`<Response>${'<Play/>'.repeat(9_000)}</Response>`)).toHaveLength(100)
  })

  it('is rejected if the rounds of its prompts would fill the memory', () => {
    const prompts = '<Say loop="1000">a</Say>'.repeat(6)
    expect(faultsOf(`<Response><Gather>${prompts}</Gather></Response>`)).toMatchObject([
      { code: '12200', path: '/Response/Gather[1]' },
    ])
  })

  it('is rejected with 12100 if empty', () => {
    expect(faultsOf('')).toMatchObject([{ code: '12100' }])
  })

  it('is rejected with 11750 above 64 kB', () => {
    expect(faultsOf(`<Response><!--${'x'.repeat(65_536)}--></Response>`)).toMatchObject([{ code: '11750' }])
  })

  it('is rejected with 12300 for another content type', () => {
    expect(faultsOf('<Response/>', { url: base, contentType: 'application/json' })).toMatchObject([
      { code: '12300' },
    ])
  })

  it.each(['text/xml', 'application/xml; charset=utf-8', 'text/html', 'application/twiml+xml', ''])(
    'is read as %s',
    (contentType) => {
      expect(readXmlDocument({ text: '<Response/>', contentType }).verbs).toEqual([])
    },
  )

  it('may mention a DOCTYPE in comments and CDATA, and have a byte-order mark and CRLF', async () => {
    const { call } = await runXml('\r\n<!-- <!DOCTYPE x> --><Say><![CDATA[<!DOCTYPE> & co]]></Say>')
    expect(call.verbs).toMatchObject([['play', { sounds: [{ kind: 'speech', text: '<!DOCTYPE> & co' }] }]])
    expect(readXmlDocument({ text: '\ufeff<?xml version="1.0"?>\r\n<Response/>' }).verbs).toEqual([])
  })

  it('is rejected if nested too deep', () => {
    expect(faultsOf(`<Response>${'<Say>'.repeat(60)}x${'</Say>'.repeat(60)}</Response>`)).toMatchObject([
      { code: '12100' },
    ])
  })
})

describe('unknown markup', () => {
  it('is skipped if it is a verb, with warning 12200 at its location', () => {
    const { verbs, warnings } = read('\n  <Transcend/>\n<Hangup/>')
    expect(verbs.map(({ name }) => name)).toEqual(['Hangup'])
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Transcend[1]', line: 2, column: 3 }])
  })

  it.each(['Denoise', 'Pay', 'Sms', 'Prompt', 'Queue', 'Message'])(
    'includes the unsupported verb %s of the family',
    async (name) => {
      const { call, context } = await runXml(`<${name}/><Say>on</Say>`)
      expect(call.names).toEqual(['play'])
      expect(context.warnings).toMatchObject([{ code: '12200', path: `/Response/${name}[1]` }])
    },
  )

  it('causes a warning at its own location if it is an attribute, even if another value looks alike', () => {
    expect(read('<Say voice=" colour=1"\n  colour="red">x</Say>').warnings).toEqual([
      {
        code: '12200',
        message: 'The attribute colour is not supported in Say; it has no effect.',
        path: '/Response/Say[1]/@colour',
        line: 2,
        column: 3,
      },
    ])
  })

  it('causes a warning if it is text beside the verbs', () => {
    expect(read('Hello').warnings).toMatchObject([{ code: '12200', path: '/Response' }])
  })

  it.each([
    ['12200', '<Say loop="many">x</Say>', '/Response/Say[1]/@loop'],
    ['12200', '<Dial timeout="1">1</Dial>', '/Response/Dial[1]/@timeout'],
    ['12200', '<Dial answerOnBridge="perhaps">1</Dial>', '/Response/Dial[1]/@answerOnBridge'],
    ['12200', '<Dial ringTone="xx">1</Dial>', '/Response/Dial[1]/@ringTone'],
    ['12200', '<Dial record="yes">1</Dial>', '/Response/Dial[1]/@record'],
    ['12200', '<Dial callerId="1&#13;&#10;Via: x">1</Dial>', '/Response/Dial[1]/@callerId'],
    ['12200', `<Dial callerName="${'x'.repeat(71)}">1</Dial>`, '/Response/Dial[1]/@callerName'],
    ['12200', '<Gather finishOnKey="x"/>', '/Response/Gather[1]/@finishOnKey'],
    ['12200', '<Reject reason="mood"/>', '/Response/Reject[1]/@reason'],
    ['13221', '<Redirect method="PUT">x</Redirect>', '/Response/Redirect[1]/@method'],
    [
      '21626',
      '<Dial><Number statusCallbackEvent="sneeze">1</Number></Dial>',
      '/Response/Dial[1]/Number[1]/@statusCallbackEvent',
    ],
    ['53404', '<Dial><Sip codecs="G729">sip:a@b.example</Sip></Dial>', '/Response/Dial[1]/Sip[1]/@codecs'],
  ])('causes warning %s if it is the value in %s, and the default applies', (code, body, path) => {
    const { verbs, warnings } = read(body)
    expect(verbs).toHaveLength(1)
    expect(warnings).toMatchObject([{ code, path, line: 1 }])
  })
})

it('is reported with all other errors', () => {
  const errors = faultsOf(
    '<Response><Play/><Dial action="ftp://x">1</Dial><Redirect>ftp://x</Redirect></Response>',
  )
  expect(errors).toMatchObject([
    { code: '11100', path: '/Response/Play[1]' },
    { code: '11100', path: '/Response/Dial[1]/@action' },
    { code: '11100', path: '/Response/Redirect[1]' },
  ])
})
