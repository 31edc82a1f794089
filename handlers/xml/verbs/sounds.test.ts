import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../../handler.ts'
import { root, runXml } from '../../testing/run-xml.ts'
import { readXmlDocument } from '../document.ts'

/** Returns the verbs that ran, and the warnings. */
const played = async (body: string, at?: string) => {
  const { call, context } = await runXml(body, { at })
  return { verbs: call.verbs, warnings: context.warnings }
}

describe('Say', () => {
  it('speaks with voice, language and loop, and decodes entities', async () => {
    const { verbs } = await played(
      '<Say voice="slt" language="en-GB" loop="2"> Tom &amp; &#x41;nn\n there </Say>',
    )
    const sound = { kind: 'speech', text: 'Tom & Ann there', voice: 'slt', language: 'en-GB' }
    expect(verbs).toEqual([['play', { sounds: [sound], loop: 2 }]])
  })

  it('uses the configured voice and language by default, and speaks once', async () => {
    const { verbs } = await played('<Say>Hi</Say>')
    expect(verbs).toEqual([['play', { sounds: [{ kind: 'speech', text: 'Hi' }], loop: 1 }]])
  })

  it('passes SSML on with escaped characters', async () => {
    const { verbs, warnings } = await played(
      '<Say>one &lt; <break time="1s"/>\n two <sub alias="a &amp; &quot;b&quot;">c</sub> <amazon:effect name="x">d</amazon:effect></Say>',
    )
    const text =
      '<speak>one &lt; <break time="1s"/> two <sub alias="a &amp; &quot;b&quot;">c</sub> <amazon:effect name="x">d</amazon:effect></speak>'
    expect(verbs).toMatchObject([['play', { sounds: [{ text }] }]])
    expect(warnings).toEqual([])
  })

  it('drops tags that are not SSML with a warning, and keeps their text', async () => {
    const { verbs, warnings } = await played('<Say>one <b>two <s>three</s></b></Say>')
    const text = '<speak>one two <s>three</s></speak>'
    expect(verbs).toMatchObject([['play', { sounds: [{ text }] }]])
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Say[1]/b[1]' }])
  })

  it.each([
    ['no text', '<Say> </Say>'],
    ['tags alone', '<Say><break/></Say>'],
    ['more than 4096 characters', `<Say>${'x'.repeat(4097)}</Say>`],
    ['too many tags', `<Say>${'<s>a</s>'.repeat(2100)}</Say>`],
  ])('has no effect with %s, with warning 13520', async (_what, body) => {
    const { verbs, warnings } = await played(`${body}<Pause/>`)
    expect(verbs).toEqual([['sleep', 1000], ['answer']])
    expect(warnings).toMatchObject([{ code: '13520', path: '/Response/Say[1]' }])
  })
})

describe('Play', () => {
  it('plays a file of the folder for sounds', async () => {
    const { verbs } = await played('<Play>file:de/welcome.mp3</Play>')
    expect(verbs).toMatchObject([['play', { sounds: [{ kind: 'audio', url: 'file:de/welcome.mp3' }] }]])
  })

  it('plays a URL relative to the document, loop times', async () => {
    const { verbs } = await played('<Play loop="0">../a b.wav</Play>', '/voice/start')
    const url = `${root}/a%20b.wav`
    expect(verbs).toEqual([['play', { sounds: [{ kind: 'audio', url }], loop: 0 }]])
  })

  it('sends digits, after the audio if any', async () => {
    expect((await played('<Play digits="1w2#"/>')).verbs).toEqual([['answer'], ['sendDigits', '1w2#']])
    const { verbs } = await played(`<Play digits="5">${root}/a.wav</Play>`)
    expect(verbs).toMatchObject([
      ['play', {}],
      ['sendDigits', '5'],
    ])
  })

  it('sends no invalid digits, with warning 13222', async () => {
    const { verbs, warnings } = await played('<Play digits="1x"/>')
    expect(verbs).toEqual([['answer']])
    expect(warnings).toMatchObject([
      { code: '13222', path: '/Response/Play[1]/@digits', line: 1, column: 17 },
    ])
  })

  it.each([
    ['a relative URL in an inline document', '<Play>a.wav</Play>'],
    ['a URL that is not http', '<Play>ftp://a.example/b.wav</Play>'],
    ['neither URL nor digits', '<Play/>'],
  ])('rejects the document with %s', (_what, body) => {
    const invalid = () => readXmlDocument({ text: `<Response>${body}</Response>` })
    expect(invalid).toThrow(DocumentInvalid)
    expect(invalid).toThrow(
      expect.objectContaining({
        faults: [expect.objectContaining({ code: '11100', path: '/Response/Play[1]' })],
      }),
    )
  })
})

describe('Pause', () => {
  it('waits a second or its length, and does not answer', async () => {
    const { verbs } = await played('<Pause/><Pause length="3"/><Reject/>')
    expect(verbs).toEqual([
      ['sleep', 1000],
      ['sleep', 3000],
      ['hangup', 'decline'],
    ])
  })
})
