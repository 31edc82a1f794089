import { expect, it } from 'vitest'
import { EarlyMedia, tagOf } from './early-media.ts'

const response = (to: string, body = '') => ({
  get: (name: string) => (name === 'To' ? to : undefined),
  body,
})

it.each([
  ['<sip:bob@b.example>;tag=real', 'real'],
  ['<sip:bob@b.example;tag=uri>;tag=real', 'real'],
  ['"Bob ;tag=name" <sip:bob@b.example>; x=1; Tag = real', 'real'],
  ['sip:bob@b.example;tag=real', 'real'],
  ['<sip:bob@b.example;tag=uri>', ''],
  ['', ''],
])('the branch in the header To: %s is %j', (to, tag) => {
  expect(tagOf(response(to))).toBe(tag)
})

it('branches are distinguished even if their URI has a parameter named tag', () => {
  const heard = new EarlyMedia()
  const from = (tag: string, body: string) =>
    heard.isNews(response(`<sip:bob@b.example;tag=uri>;tag=${tag}`, body))
  expect([from('1', 'a'), from('2', 'b'), from('1', 'a'), from('2', 'c')]).toEqual([true, true, false, true])
})
