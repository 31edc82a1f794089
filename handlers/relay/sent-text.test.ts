import { describe, expect, it } from 'vitest'
import { SentText } from './sent-text.ts'
import { WrittenText } from './written-text.ts'

const sentText = (text: string): SentText => {
  const written = new WrittenText()
  written.write(text)
  return new SentText(written)
}

describe('the sent text that was heard', () => {
  it.each([
    ['One [two](https://x.example/three), four', 'One two', 'One [two](https://x.example/three),'],
    ['One [two](https://x.example/a) a b', 'One two a', 'One [two](https://x.example/a) a'],
    ['See ![a cat](https://x.example/c.png). Good', 'See a cat', 'See ![a cat](https://x.example/c.png).'],
    ['[「はい。」](https://x.example/a)です。', '「はい。」', '[「はい。」](https://x.example/a)'],
    ['[a](b)[c](d)e f', 'a c e', '[a](b)[c](d)e'],
    // Only a part of the link's text.
    ['Read [the full story](https://x.example/full) now', 'Read the', 'Read [the'],
    // No links.
    ['A [note] (b) a', 'A [note] (b', 'A [note] (b)'],
    ['x] and a](b) c', 'x] and a](b', 'x] and a](b)'],
  ])('of %s has links with their addresses', (text, heard, sent) => {
    expect(sentText(text).pass(heard)).toBe(sent)
  })

  it.each([
    // Engines with a voice of their own speak addresses in other words.
    ['See https://example.com/map now', 'See example', 'See'],
    ['See (www.x.example/map)', 'See x', 'See'],
    ['Write to ann@x.example soon', 'Write to ann', 'Write to'],
    ['https://x.example/a b', 'x', ''],
    ['See [a](https://x.example/', 'See a x', 'See'],
    ['See [a](https://x.example/a)https://y.example/b', 'See a y', 'See [a](https://x.example/a)'],
    ['See [www.x.example/map](https://x.example/map)', 'See x', 'See'],
  ])('of %s ends before an address that was heard in part', (text, heard, sent) => {
    expect(sentText(text).passTo(heard)).toBe(sent)
  })

  it.each([
    ['See https://example.com/map, please.', 'See https://example.com/map,'],
    ['Write to ann@x.example. Thanks.', 'Write to ann@x.example.'],
  ])('of %s has an address that was heard', (text, heard) => {
    expect(sentText(text).pass(heard)).toBe(heard)
  })

  it.each([
    ['See [a](https://x.example/a),more', 'See a', 'See [a](https://x.example/a),'],
    ['(see [Docs](https://x.example/d)/x)', '(see Docs', '(see [Docs](https://x.example/d)/'],
    ['One,[two](https://x.example/a)', 'One', 'One,['],
    ['[a/b](https://x.example/a)', 'a', '[a/'],
    ['price@5', 'price', 'price@'],
    ['price@5.50', 'price', 'price@'],
    ['and :// or@', 'and', 'and'],
  ])('of %s ends in a word that is no address', (text, heard, sent) => {
    expect(sentText(text).passTo(heard)).toBe(sent)
  })

  it('goes on after the part that it was', () => {
    const sent = sentText('One [two](https://x.example/three) three [four](https://y.example) five')
    expect(['One two', 'three four', 'five'].map((piece) => sent.pass(piece))).toEqual([
      'One [two](https://x.example/three)',
      ' three [four](https://y.example)',
      ' five',
    ])
  })
})
