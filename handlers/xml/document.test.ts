import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { readXmlDocument } from './document.ts'

const base = 'https://app.example/voice/start.xml'
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
  ])('is refused with 12100 and its place for %s', (_what, text, line, column) => {
    expect(faultsOf(text)).toMatchObject([{ code: '12100', line, column }])
  })

  it('tells of a hundred faults and no more', () => {
    expect(read('<A/>'.repeat(13_000)).warnings).toHaveLength(100)
    expect(faultsOf(`<Response>${'<Play/>'.repeat(9_000)}</Response>`)).toHaveLength(100)
  })

  it('is refused when its rounds of prompts would fill the memory', () => {
    const prompts = '<Say loop="1000">a</Say>'.repeat(6)
    expect(faultsOf(`<Response><Gather>${prompts}</Gather></Response>`)).toMatchObject([
      { code: '12200', path: '/Response/Gather[1]' },
    ])
  })

  it('is refused with 12100 when it is empty', () => {
    expect(faultsOf('')).toMatchObject([{ code: '12100' }])
  })

  it('is refused with 11750 above 64 kB', () => {
    expect(faultsOf(`<Response><!--${'x'.repeat(65_536)}--></Response>`)).toMatchObject([{ code: '11750' }])
  })

  it('is refused with 12300 when the server calls it something else', () => {
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

  it('may speak of a DOCTYPE in comments and CDATA, have a byte-order mark and CRLF', () => {
    const { verbs } = read('\r\n<!-- <!DOCTYPE x> --><Say><![CDATA[<!DOCTYPE> & co]]></Say>')
    expect(verbs).toMatchObject([{ play: { sounds: [{ kind: 'speech', text: '<!DOCTYPE> & co' }] } }])
    expect(readXmlDocument({ text: '\ufeff<?xml version="1.0"?>\r\n<Response/>' }).verbs).toEqual([])
  })

  it('is refused when it nests without end', () => {
    expect(faultsOf(`<Response>${'<Say>'.repeat(60)}x${'</Say>'.repeat(60)}</Response>`)).toMatchObject([
      { code: '12100' },
    ])
  })
})

describe('verbs that play', () => {
  it('reads Say with voice, language and loop, and decodes entities', () => {
    expect(
      read('<Say voice="slt" language="en-GB" loop="2"> Tom &amp; &#x41;nn\n there </Say>').verbs,
    ).toEqual([
      {
        path: '/Response/Say[1]',
        kind: 'play',
        play: {
          sounds: [{ kind: 'speech', text: 'Tom & Ann there', voice: 'slt', language: 'en-GB' }],
          loop: 2,
        },
      },
    ])
  })

  it('hands SSML on, with its signs escaped', () => {
    const { verbs, warnings } = read(
      '<Say>one &lt; <break time="1s"/>\n two <sub alias="a &amp; &quot;b&quot;">c</sub> <amazon:effect name="x">d</amazon:effect></Say>',
    )
    const text =
      '<speak>one &lt; <break time="1s"/> two <sub alias="a &amp; &quot;b&quot;">c</sub> <amazon:effect name="x">d</amazon:effect></speak>'
    expect(verbs).toMatchObject([{ play: { sounds: [{ text }] } }])
    expect(warnings).toEqual([])
  })

  it('leaves out tags that are no SSML, with a warning, and keeps their text', () => {
    const { verbs, warnings } = read('<Say>one <b>two <s>three</s></b></Say>')
    expect(verbs).toMatchObject([{ play: { sounds: [{ text: '<speak>one two <s>three</s></speak>' }] } }])
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Say[1]/b[1]' }])
    expect(read('<Say><break/></Say>')).toMatchObject({ verbs: [], warnings: [{ code: '12200' }] })
    const many = '<s>a</s>'.repeat(2100)
    expect(faultsOf(`<Response><Say>${many}</Say></Response>`)).toMatchObject([{ code: '12200' }])
  })

  it('reads Play of a file of the folder for sounds', () => {
    expect(read('<Play>file:de/welcome.mp3</Play>').verbs).toMatchObject([
      { kind: 'play', play: { sounds: [{ kind: 'audio', url: 'file:de/welcome.mp3' }] } },
    ])
  })

  it('warns of a Say without text and refuses one of more than 4096 characters', () => {
    expect(read('<Say> </Say>')).toMatchObject({ verbs: [], warnings: [{ code: '12200' }] })
    expect(faultsOf(`<Response><Say>${'x'.repeat(4097)}</Say></Response>`)).toMatchObject([{ code: '12200' }])
  })

  it('resolves the URL of Play against the document', () => {
    expect(read('<Play loop="0">../a b.wav</Play>').verbs).toMatchObject([
      { kind: 'play', play: { sounds: [{ kind: 'audio', url: 'https://app.example/a%20b.wav' }], loop: 0 } },
    ])
  })

  it('reads Play with digits alone', () => {
    expect(read('<Play digits="1w2#"/>').verbs).toEqual([
      { path: '/Response/Play[1]', kind: 'digits', digits: '1w2#' },
    ])
  })

  it.each([
    ['11100', 'a relative URL in an inline document', '<Play>a.wav</Play>', undefined, '/Response/Play[1]'],
    ['11100', 'a URL that is not http', '<Play>ftp://a.example/b.wav</Play>', base, '/Response/Play[1]'],
    ['11100', 'neither URL nor digits', '<Play/>', base, '/Response/Play[1]'],
    ['13222', 'digits that no phone has', '<Play digits="1x"/>', base, '/Response/Play[1]/@digits'],
  ])('refuses Play with %s for %s', (code, _what, body, url, path) => {
    expect(faultsOf(`<Response>${body}</Response>`, { url })).toMatchObject([{ code, path, line: 1 }])
  })
})

describe('Gather', () => {
  it('has the defaults of the family and the document itself as action', () => {
    expect(read('<Gather/>').verbs).toEqual([
      {
        path: '/Response/Gather[1]',
        kind: 'gather',
        prompt: undefined,
        maxDigits: 128,
        terminators: '#',
        timeoutMs: 5000,
        action: { url: base, method: 'POST' },
        actionOnEmptyResult: false,
      },
    ])
  })

  it('reads its attributes and a prompt of Say, Play and Pause in order', () => {
    const { verbs, warnings } = read(
      '<Gather numDigits="4" finishOnKey="" timeout="9" action="next?a=1" method="GET" actionOnEmptyResult="true">' +
        '<Say loop="2">Pin</Say><Pause length="2"/><Play>b.wav</Play></Gather>',
    )
    const pin = { kind: 'speech', text: 'Pin' }
    expect(verbs).toMatchObject([
      {
        prompt: {
          sounds: [
            pin,
            pin,
            { kind: 'silence', ms: 2000 },
            { kind: 'audio', url: 'https://app.example/voice/b.wav' },
          ],
        },
        maxDigits: 4,
        terminators: '',
        timeoutMs: 9000,
        action: { url: 'https://app.example/voice/next?a=1', method: 'GET' },
        actionOnEmptyResult: true,
      },
    ])
    expect(warnings).toEqual([])
  })

  it('needs an action in an inline document', () => {
    expect(faultsOf('<Response>\n\n  <Gather/></Response>', {})).toMatchObject([
      { code: '11100', path: '/Response/Gather[1]', line: 3, column: 3 },
    ])
  })

  it('warns of verbs that have no place in it', () => {
    expect(read('<Gather><Dial>1</Dial></Gather>').warnings).toMatchObject([
      { path: '/Response/Gather[1]/Dial[1]' },
    ])
  })
})

describe('Dial', () => {
  it('reads Sip with credentials, transport, and URL headers that become X- headers', () => {
    const { verbs } = read(
      '<Dial callerId="+15551234" callerName="Bob"><Sip username="u" password="p">' +
        'sip:100@carrier.example:5080;transport=tcp?X-Id=a%2Bb&amp;tag=7</Sip></Dial>',
    )
    expect(verbs).toMatchObject([
      {
        kind: 'dial',
        sip: true,
        connect: {
          steps: [
            [
              {
                to: 'sip:100@carrier.example:5080;transport=tcp',
                from: '+15551234',
                fromName: 'Bob',
                username: 'u',
                password: 'p',
                headers: [
                  { name: 'X-Id', value: 'a+b' },
                  { name: 'X-tag', value: '7' },
                ],
              },
            ],
          ],
          timeoutMs: 30_000,
          maxDurationMs: 14_400_000,
          answerOnBridge: false,
        },
      },
    ])
  })

  it('reads its own attributes', () => {
    const { verbs } = read(
      '<Dial timeout="20" timeLimit="60" answerOnBridge="true" ringTone="de" action="/done">+1 (555) 123-4567</Dial>',
    )
    expect(verbs).toMatchObject([
      {
        sip: false,
        action: { url: 'https://app.example/done', method: 'POST' },
        connect: {
          steps: [[{ to: '+15551234567' }]],
          timeoutMs: 20_000,
          maxDurationMs: 60_000,
          answerOnBridge: true,
          ringback: [{ kind: 'ringtone', country: 'de' }],
        },
      },
    ])
  })

  it('rings several nouns together', () => {
    const { verbs } = read(
      '<Dial><Client>alice</Client><Client>/private/bob</Client><Number>+15550003</Number><Sip>sips:x@y.example</Sip></Dial>',
    )
    expect(verbs).toMatchObject([
      {
        connect: {
          steps: [
            [
              { to: '/public/alice' },
              { to: '/private/bob' },
              { to: '+15550003' },
              { to: 'sips:x@y.example' },
            ],
          ],
        },
      },
    ])
  })

  it.each([
    [
      '32110',
      'a Sip noun without a SIP URI',
      '<Dial><Sip>carrier.example</Sip></Dial>',
      '/Response/Dial[1]/Sip[1]',
    ],
    [
      '32110',
      'a line break in a URL header',
      '<Dial><Sip>sip:a@b?X-A=1%0d%0aVia:x</Sip></Dial>',
      '/Response/Dial[1]/Sip[1]',
    ],
    [
      '12200',
      'a line break in the caller id',
      '<Dial callerId="1&#13;&#10;Via: x">1</Dial>',
      '/Response/Dial[1]/@callerId',
    ],
    ['12200', 'a Client that is no name', '<Dial><Client>a b</Client></Dial>', '/Response/Dial[1]/Client[1]'],
    ['13223', 'a number that is none', '<Dial>call me</Dial>', '/Response/Dial[1]'],
    ['12200', 'nobody to call', '<Dial/>', '/Response/Dial[1]'],
    ['12200', 'only nouns that are not supported', '<Dial><Queue>q</Queue></Dial>', '/Response/Dial[1]'],
    ['12200', 'more than ten nouns', `<Dial>${'<Number>1</Number>'.repeat(11)}</Dial>`, '/Response/Dial[1]'],
  ])('refuses with %s %s', (code, _what, body, path) => {
    expect(faultsOf(`<Response>${body}</Response>`)).toMatchObject([{ code, path }])
  })

  it('never shows what stands in a Sip noun', () => {
    const faults = faultsOf('<Response><Dial><Sip password="pa55">sip:u:pa55@ b</Sip></Dial></Response>')
    expect(JSON.stringify(faults)).not.toContain('pa55')
  })
})

describe('the other verbs', () => {
  it('reads Pause, Hangup, Reject and Redirect', () => {
    expect(
      read(
        '<Pause/><Pause length="3"/><Reject reason="busy"/><Reject/><Redirect method="GET">b.xml?x=1&amp;y=2</Redirect><Hangup/>',
      ).verbs,
    ).toMatchObject([
      { kind: 'pause', ms: 1000 },
      { kind: 'pause', ms: 3000 },
      { kind: 'reject', reason: 'busy' },
      { kind: 'reject', reason: 'decline' },
      { kind: 'redirect', next: { url: 'https://app.example/voice/b.xml?x=1&y=2', method: 'GET' } },
      { kind: 'hangup' },
    ])
  })

  it('passes over an unknown verb with warning 12200 at its place', () => {
    expect(read('\n  <Transcend/>\n<Hangup/>')).toMatchObject({
      verbs: [{ kind: 'hangup' }],
      warnings: [{ code: '12200', path: '/Response/Transcend[1]', line: 2, column: 3 }],
    })
  })

  it('warns of an unknown attribute at its own place, even when another value looks like it', () => {
    expect(read('<Say voice=" colour=1"\n  colour="red">x</Say>').warnings).toEqual([
      {
        code: '12200',
        message: 'The attribute colour of Say is not supported; it has no effect.',
        path: '/Response/Say[1]/@colour',
        line: 2,
        column: 3,
      },
    ])
  })

  it.each([
    ['12200', '<Say loop="many">x</Say>', '/Response/Say[1]/@loop'],
    ['12200', '<Dial timeout="1">1</Dial>', '/Response/Dial[1]/@timeout'],
    ['12200', '<Dial answerOnBridge="perhaps">1</Dial>', '/Response/Dial[1]/@answerOnBridge'],
    ['12200', '<Dial ringTone="xx">1</Dial>', '/Response/Dial[1]/@ringTone'],
    ['12200', '<Gather finishOnKey="x"/>', '/Response/Gather[1]/@finishOnKey'],
    ['12200', '<Reject reason="mood"/>', '/Response/Reject[1]/@reason'],
    ['13221', '<Redirect method="PUT">x</Redirect>', '/Response/Redirect[1]/@method'],
  ])('warns with %s of the value in %s and uses the default', (code, body, path) => {
    const { verbs, warnings } = read(body)
    expect(verbs).toHaveLength(1)
    expect(warnings).toMatchObject([{ code, path }])
  })

  it('tells all errors at once', () => {
    expect(
      faultsOf('<Response><Play/><Dial/><Redirect>ftp://x</Redirect></Response>').map((f) => f.path),
    ).toEqual(['/Response/Play[1]', '/Response/Dial[1]', '/Response/Redirect[1]'])
  })
})
