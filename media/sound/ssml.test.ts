import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxMarkupLength, maxTextLength, parseSpeech } from './ssml.ts'

/** Texts unchanged, pauses as numbers. */
const partsOf = (text: string) =>
  parseSpeech(text).parts.map((part) => (part.kind === 'text' ? part.text : part.ms))

describe('plain text', () => {
  it('is one part, on one line, with literal signs', () => {
    expect(parseSpeech('  3 < 5 \n and 7 > 6 &amp; so on ')).toEqual({
      parts: [{ kind: 'text', text: '3 < 5 and 7 > 6 &amp; so on' }],
      warnings: [],
    })
    expect(partsOf('a <b and so on')).toEqual(['a <b and so on'])
  })

  it('is rejected if too long or empty', () => {
    expect(() => parseSpeech('a'.repeat(maxTextLength + 1))).toThrow('at most 4096')
    expect(partsOf('a'.repeat(maxTextLength))).toHaveLength(1)
    for (const nothing of ['', ' ', '...', '<break/>', '<speak></speak>'])
      expect(() => parseSpeech(nothing)).toThrow('letters or digits')
    expect(partsOf('\u4f60\u597d')).toEqual(['\u4f60\u597d'])
  })
})

describe('SSML', () => {
  it.each([
    ['tags', '<speak>Hello <emphasis level="strong">Tom</emphasis></speak>', ['Hello Tom']],
    [
      'prosody, lang, phoneme and w',
      '<prosody rate="slow">a</prosody> <lang xml:lang="fr">b</lang> <phoneme ph="x">c</phoneme> <w role="y">d</w>',
      ['a b c d'],
    ],
    ['tags of Amazon', '<amazon:effect name="whispered">hush</amazon:effect>', ['hush']],
    ['entities', '<speak>Tom &amp; Ann &lt;3 &#x41;&#66;&nbsp;!</speak>', ['Tom & Ann <3 AB !']],
    ['a declaration and comments', '<?xml version="1.0"?><!-- <b>not this</b> -->this', ['this']],
    ['CDATA', '<speak><![CDATA[a <b> c]]></speak>', ['a <b> c']],
    ['signs in attributes', '<sub alias="a > b">x</sub> c', ['a > b c']],
    ['metadata', '<speak><metadata>secret</metadata>said</speak>', ['said']],
  ])('is parsed without %s', (_what, text, parts) => {
    expect(parseSpeech(text).warnings).toEqual([])
    expect(partsOf(text)).toEqual(parts)
  })

  it.each([
    ['a time in seconds', 'a<break time="1.5s"/>b', ['a', 1500, 'b']],
    ['a time in milliseconds', 'a<break time="250ms"/>b', ['a', 250, 'b']],
    ['a strength', 'a<break strength="x-strong"/>b', ['a', 1200, 'b']],
    ['none', 'a<break strength="none"/>b', ['a b']],
    ['nothing said', 'a<break/>b', ['a', 500, 'b']],
    ['two of them', 'a<break time="1s"/> <break time="2s"/>b', ['a', 3000, 'b']],
    ['a very long one', 'a<break time="9999999s"/>b', ['a', 10_000, 'b']],
    ['the start and the end', '<break time="1s"/>a<break time="1s"/>', [1000, 'a', 1000]],
    ['a pair of tags', 'a<break time="1s"></break>b', ['a', 1000, 'b']],
  ])('pauses at a break with %s', (_what, text, parts) => {
    expect(partsOf(text)).toEqual(parts)
  })

  it('pauses between paragraphs and sentences, and not around them', () => {
    expect(partsOf('<speak><p><s>One.</s><s>Two.</s></p><p>Three.</p></speak>')).toEqual([
      'One.',
      350,
      'Two.',
      700,
      'Three.',
    ])
    expect(partsOf('<p>a</p><break time="2s"/><p>b</p>')).toEqual(['a', 2000, 'b'])
  })

  it('speaks the alias of sub', () => {
    expect(partsOf('The <sub alias="World Wide Web">WWW</sub>.')).toEqual(['The World Wide Web.'])
  })

  it.each([
    ['digits', '2-4', '2 4'],
    ['characters', 'AbC', 'A b C'],
    ['spell-out', 'hi', 'h i'],
    ['telephone', '+49 (30) 12', '4 9 3 0 1 2'],
    ['cardinal', '24', '24'],
  ])('says as %s', (kind, text, spoken) => {
    expect(partsOf(`<say-as interpret-as="${kind}">${text}</say-as>`)).toEqual([spoken])
  })

  it('is passed on unchanged if valid', () => {
    expect(parseSpeech('a<break/>b').ssml).toBe('<speak>a<break/>b</speak>')
    expect(parseSpeech('<?xml version="1.0"?><speak xml:lang="de">a</speak>').ssml).toBe(
      '<speak xml:lang="de">a</speak>',
    )
    expect(parseSpeech('plain').ssml).toBeUndefined()
    expect(parseSpeech('<speak>a').ssml).toBeUndefined()
  })

  it.each([
    [
      'signs that XML keeps for itself',
      'Tom & Jerry &foo; 3 < 5<break/>',
      'Tom &#38; Jerry &#38;foo; 3 &#60; 5<break/>',
    ],
    ['control characters', 'a\u0001\ud800b<break/>', 'a \ufffdb<break/>'],
    [
      'attributes',
      "<say-as interpret-as='x\"&amp;y'>1</say-as>",
      '<say-as interpret-as="x&#34;&#38;y">1</say-as>',
    ],
    [
      'comments, instructions and types',
      '<!DOCTYPE speak SYSTEM "x"><?x y?>a<!-- b --><break/>',
      'a<break/>',
    ],
    ['CDATA', '<p><![CDATA[<b> & c]]></p>', '<p>&#60;b&#62; &#38; c</p>'],
    [
      'what an engine would fetch',
      '<audio src="http://10.0.0.1/">a<desc>b</desc></audio><lexicon uri="file:///x"/>',
      'a',
    ],
    ['several roots', '<speak>a</speak> <speak>b</speak>', 'a b'],
  ])('is well formed, with %s', (_name, text, expected) => {
    expect(parseSpeech(text).ssml).toBe(`<speak>${expected}</speak>`)
  })
})

describe('faulty markup', () => {
  it.each([
    ['an element that is not closed', '<speak><emphasis>a</speak>', ['a'], 'emphasis'],
    ['a root that is not closed', '<speak>a', ['a'], 'speak'],
    ['a tag that closes nothing', 'a</prosody> b', ['a b'], 'closes nothing'],
    ['an unknown tag', '<blink>a</blink>', ['a'], '<blink> is not known'],
    ['a value without quotes', 'a<break time=1s/>b', ['a b'], '<break> is malformed'],
    ['a tag without an end', '<p>a</p> <break time="1s"', ['a'], '<break> is not closed'],
    ['a comment without an end', 'a<!-- b', ['a'], 'comment'],
    ['a time that is none', 'a<break time="soon"/>b', ['a', 500, 'b'], 'time'],
    ['elements that overlap', '<p><s>a</p></s>', ['a'], '<s>'],
  ])('is omitted with a warning: %s', (_what, text, parts, warning) => {
    expect(partsOf(text)).toEqual(parts)
    expect(parseSpeech(text).warnings.join()).toContain(warning)
  })

  it('is bounded in size, depth and number', () => {
    expect(() => parseSpeech('<p>'.repeat(maxMarkupLength))).toThrow(`at most ${maxMarkupLength}`)
    const deep = parseSpeech(`${'<p>'.repeat(2000)}a${'</p>'.repeat(2000)}`)
    expect(deep.parts).toEqual([{ kind: 'text', text: 'a' }])
    expect(deep.warnings.length).toBeLessThanOrEqual(5)
    const many = partsOf('a<break/>'.repeat(1000))
    expect(many.filter((part) => typeof part === 'number')).toHaveLength(50)
    expect(
      many
        .filter((part) => typeof part === 'string')
        .join(' ')
        .match(/a/g),
    ).toHaveLength(1000)
  })

  it('never fails, and is never spoken', () => {
    const pieces = fc.constantFrom(
      '<p>',
      '</p>',
      '<s/>',
      '<break time="1s"/>',
      '<break',
      '<',
      '>',
      '"',
      "'",
      '&',
      '<!--',
      '-->',
      '<?',
      '?>',
      '<say-as interpret-as="digits">',
      '</say-as>',
      '<amazon:x y="',
      ' ',
      '/',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (list) => {
        const { parts } = parseSpeech(`word <speak>${list.join('')}</speak>`)
        expect(parts[0]).toMatchObject({ kind: 'text', text: expect.stringMatching(/^word/) })
        for (const part of parts) {
          if (part.kind === 'text')
            expect(part.text).not.toMatch(/<\/?(speak|p|s|say-as)>|<break time="1s"\/>/)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
