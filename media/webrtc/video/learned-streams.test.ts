import { expect, it } from 'vitest'
import { LearnedStreams } from './learned-streams.ts'

const rids = ['q', 'h', 'f']
const encodings = rids.map((rid) => ({ rid, scalabilityMode: 'L1T3' }))

/** Producer that has received these streams. */
const producer = (ssrcs: Readonly<Record<string, number>>) => ({
  score: Object.entries(ssrcs).map(([rid, ssrc]) => ({
    encodingIdx: rids.indexOf(rid),
    rid,
    ssrc,
    score: 10,
  })),
})

const ssrcs = (learned: LearnedStreams, origin: string) =>
  learned.complete(origin, encodings).map(({ ssrc }) => ssrc)

it('adds nothing before a producer has ended', () => {
  expect(new LearnedStreams().complete('a', encodings)).toEqual(encodings)
})

it('adds the SSRCs of a former producer of the same streams, and keeps the rest of the encodings', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ q: 11, f: 33 }))
  expect(learned.complete('a', encodings)).toEqual([
    { ...encodings[0], ssrc: 11 },
    encodings[1],
    { ...encodings[2], ssrc: 33 },
  ])
})

it('knows streams of an earlier producer that the last one has not received', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ q: 11, h: 22, f: 33 }))
  learned.learn('a', producer({ q: 11 }))
  expect(ssrcs(learned, 'a')).toEqual([11, 22, 33])
})

it('forgets the streams of another connection, and adds none of them to its own', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ q: 11, h: 22 }))
  expect(ssrcs(learned, 'b')).toEqual([undefined, undefined, undefined])
  learned.learn('b', producer({ q: 44 }))
  expect(ssrcs(learned, 'b')).toEqual([44, undefined, undefined])
  expect(ssrcs(learned, 'a')).toEqual([undefined, undefined, undefined])
})

it('leaves the only stream of an m-line as it is: a browser may change its SSRC', () => {
  const learned = new LearnedStreams()
  learned.learn('a', { score: [{ encodingIdx: 0, ssrc: 11, score: 10 }] })
  expect(learned.complete('a', [{}])).toEqual([{}])
  expect(learned.complete('a', [{ ssrc: 99 }])).toEqual([{ ssrc: 99 }])
})
