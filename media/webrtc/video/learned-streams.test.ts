import { expect, it } from 'vitest'
import { LearnedStreams } from './learned-streams.ts'

const scalabilityMode = 'L1T3'
const rids = ['q', 'h', 'f']
const encodings = rids.map((rid) => ({ rid, scalabilityMode }))

/** Producer that has received these streams, by the index of their encoding. */
const producer = (ssrcs: Readonly<Record<number, number>>) => ({
  score: Object.entries(ssrcs).map(([index, ssrc]) => ({ encodingIdx: Number(index), ssrc, score: 10 })),
})

/** Ids of the encodings, or their SSRCs where these are known. */
const named = (learned: LearnedStreams, origin: string) =>
  learned.complete(origin, encodings).map(({ rid, ssrc }) => rid ?? ssrc)

it('adds SSRCs that no packet has before a producer has ended', () => {
  const made = new LearnedStreams().complete('a', encodings)
  expect(made.map(({ ssrc, ...encoding }) => encoding)).toEqual(encodings)
  expect(new Set(made.map(({ ssrc }) => ssrc)).size).toBe(3)
  expect(made.every(({ ssrc = 0 }) => ssrc > 0)).toBe(true)
})

it('names the streams of a former producer by their SSRCs', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ 0: 11, 2: 33 }))
  expect(learned.complete('a', encodings)).toEqual([
    { scalabilityMode, ssrc: 11 },
    { ...encodings[1], ssrc: expect.any(Number) },
    { scalabilityMode, ssrc: 33 },
  ])
})

it('knows streams of an earlier producer that the last one has not received', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ 0: 11, 1: 22, 2: 33 }))
  learned.learn('a', producer({ 0: 11 }))
  expect(named(learned, 'a')).toEqual([11, 22, 33])
})

it('forgets the streams of another connection, and adds none of them to its own', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ 0: 11, 1: 22 }))
  expect(named(learned, 'b')).toEqual(rids)
  learned.learn('b', producer({ 0: 44 }))
  expect(named(learned, 'b')).toEqual([44, 'h', 'f'])
  expect(named(learned, 'a')).toEqual(rids)
})

it('leaves the only stream of an m-line as it is: a browser may change its SSRC', () => {
  const learned = new LearnedStreams()
  learned.learn('a', producer({ 0: 11 }))
  expect(learned.complete('a', [{}])).toEqual([{}])
  expect(learned.complete('a', [{ ssrc: 99 }])).toEqual([{ ssrc: 99 }])
})
