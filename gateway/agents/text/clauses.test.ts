import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Clauses, dividedText } from './clauses.ts'

describe('clauses', () => {
  it('end the first piece at a clause of three words, and later ones at sentences', () => {
    expect(
      dividedText('Thank you for calling, Anna. We are open today, from nine to five. Can I help you?'),
    ).toEqual(['Thank you for calling,', 'Anna.', 'We are open today, from nine to five.', 'Can I help you?'])
    expect(dividedText('Well, that is a good question, and hard')).toEqual([
      'Well, that is a good question,',
      'and hard',
    ])
  })

  it.each([
    'Please ask Dr. Miller about it.',
    'The rate is 3.5 percent of it.',
    'Read www.example.com/a.b?c=d or mail a.b@example.com about it.',
    'Das gilt z.B. am 3. Mai um 10:30 Uhr.',
    'We meet at 10 a.m. in the hall of J. Smith.',
    'Take 1,000 of them.',
    'Mme. Dupont arrive.',
  ])('keep %s in one piece', (text) => {
    expect(dividedText(text)).toEqual([text])
  })

  it('are divided at lines and at wide stops', () => {
    expect(dividedText('One thing\nanother thing')).toEqual(['One thing', 'another thing'])
    expect(dividedText('你好。再见！')).toEqual(['你好。', '再见！'])
  })

  it('have no marks of Markdown', () => {
    expect(
      dividedText('# Title\n\n* **bold** and *fine* text\n- `code` x_y_z\n> quoted\n---\n+ last'),
    ).toEqual(['Title', 'bold and fine text', 'code x_y_z', 'quoted', 'last'])
    expect(dividedText('See [our page](https://a.b/c?d=(e) and ![a picture](x.png) here.')).toEqual([
      'See our page and a picture here.',
    ])
    expect(dividedText('```js\nlet a\n```\nDone [1].')).toEqual(['let a', 'Done [1].'])
    expect(dividedText('Press * now, or dial *72, or # at the end.')).toEqual([
      'Press * now, or dial *72,',
      'or # at the end.',
    ])
  })

  it('have no thoughts and no pictographs', () => {
    expect(dividedText('<think>Is it so? Yes.</think>Hello 👩‍🚀 there! 🎉 5 < 6.')).toEqual([
      'Hello there!',
      '5 < 6.',
    ])
    expect(dividedText('<thinking>never ends. At all')).toEqual([])
    expect(dividedText('Fine.</think> Good.')).toEqual(['Fine.', 'Good.'])
  })

  it('end at a clause or a space if they are long', () => {
    const pieces = dividedText(`First. ${'word '.repeat(300)}`)
    expect(pieces.length).toBe(5)
    for (const piece of pieces) expect(piece.length).toBeLessThan(420)
  })

  it('do not depend on the division of the input, and lose no word', () => {
    const part = fc.constantFrom(
      'Hello ',
      'you, ',
      'Dr. ',
      '3.5 ',
      '**',
      '*',
      '_',
      '# ',
      '\n',
      '- ',
      '```',
      '`',
      '[a](b) ',
      '[',
      ']',
      '(',
      ')',
      '!',
      '? ',
      '. ',
      '...',
      '<think>',
      '</think>',
      '<',
      '>',
      '~~',
      '🎉',
      'x',
      ' ',
      '1. ',
      '|',
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 40 }),
        fc.array(fc.nat(6), { maxLength: 80 }),
        (parts, sizes) => {
          const text = parts.join('')
          const clauses = new Clauses()
          const pieces: string[] = []
          let at = 0
          for (const size of sizes) {
            pieces.push(...clauses.push(text.slice(at, at + size)))
            at += size
          }
          pieces.push(...clauses.push(text.slice(at)), ...clauses.end())
          expect(pieces).toEqual(dividedText(text))
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('ends a piece without a space somewhere, in whole characters', () => {
    const pieces = dividedText('漢'.repeat(1500))
    expect(pieces.map(({ length }) => length)).toEqual([1000, 500])
    expect(dividedText(`a${'𠮷'.repeat(1000)}`).map(({ length }) => length)).toEqual([1001, 1000])
  })

  it.each(['#', '[', '"', '!', 'a', '。', 'a,'])(
    'takes linear time for tokens of %s without an end',
    (token) => {
      const clauses = new Clauses()
      let characters = 0
      // Time with the square of the length would be over two minutes, and exceed the limit of a test.
      for (let at = 0; at < 100_000; at++)
        for (const piece of [...clauses.push(token), ...clauses.early()]) characters += piece.length
      for (const piece of clauses.end()) characters += piece.length
      expect(characters).toBeLessThanOrEqual(100_000 * token.length)
    },
  )

  /** Returns the number of tokens up to the first piece, and the pieces. */
  const streamed = (tokens: readonly string[]) => {
    const clauses = new Clauses()
    const pieces: string[] = []
    let first = 0
    tokens.forEach((token, at) => {
      pieces.push(...clauses.push(token), ...clauses.early())
      if (pieces.length > 0) first ||= at + 1
    })
    return { first, pieces: [...pieces, ...clauses.end()] }
  }

  it.each([
    [['Thank', ' you', '.', ' Bye', '.'], 3],
    [['Hello', '!', ' How', ' are', ' you', '?'], 2],
    [['Can', ' I', ' help', ' you', '?', ' Please', ' say', '.'], 5],
    [['Thank', ' you', ' for', ' calling', ',', ' Anna', '.'], 5],
    [['He', ' said', ' "', 'no', '."', ' Really', '.'], 5],
    [['**', 'Hello', '**', ' there', '.', ' Bye', '.'], 5],
  ])('begin with the token that ends the first clause: %j', (tokens, count) => {
    const { first, pieces } = streamed(tokens)
    expect(first).toBe(count)
    expect(pieces).toEqual(dividedText(tokens.join('')))
  })

  it.each([
    [['It', ' is', ' 3', '.', '5', ' percent', '.']],
    [['Ask', ' Dr', '.', ' Miller', '.']],
    [['At', ' 10', ' a', '.', 'm', '.', ' we', ' open', '.']],
    [['Mail', ' a', '.', 'b', '@', 'example', '.', 'com', ' please', '.']],
    [['Take', ' 1', ',', '000', ' of', ' them', '.']],
    [['Open', ' https', ':', '//', 'a', '.', 'b', '/', 'c', '?', 'd', '=', 'e', ' now', '.']],
    [['That', ' is', ' z', '.', 'B', '.', ' so', '.']],
  ])('wait for more after a word that may go on: %j', (tokens) => {
    expect(streamed(tokens).pieces).toEqual([tokens.join('')])
  })

  it('drop the marks that follow a piece which ended early', () => {
    expect(streamed(['Well', '.', '.', '.', ' I', ' see', '.']).pieces).toEqual(['Well.', 'I see.'])
    expect(streamed(['"', 'Yes', '.', '"', ' is', ' it', '.']).pieces).toEqual(['"Yes.', 'is it.'])
  })

  it('end later pieces only when it is certain', () => {
    const { pieces } = streamed(['Hello', '.', ' Read', ' trunkline', '.', 'example', ' now', '.'])
    expect(pieces).toEqual(['Hello.', 'Read trunkline.example now.'])
  })

  it('lose no word by an early end', () => {
    const token = fc.stringMatching(/^ ?[a-z0-9]{0,5}[.,!?"]?$/)
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
        const letters = (text: string) => text.replace(/[^a-z0-9]/g, '')
        expect(letters(streamed(tokens).pieces.join(' '))).toBe(letters(tokens.join('')))
      }),
    )
  })

  it('keep every word of plain text', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}[.,!?]?$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), (words) => {
        expect(dividedText(words.join(' ')).join(' ')).toBe(words.join(' '))
      }),
    )
  })
})
