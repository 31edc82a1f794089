import { expect, it } from 'vitest'
import { writtenLanguage } from './written-language.ts'

const tags = [
  'en-US',
  'es-MX',
  'de-DE',
  'fr',
  'it',
  'pt-BR',
  'nl',
  'pl',
  'sv',
  'tr',
  'ja',
  'zh',
  'ru',
  'ar',
  'hi',
]

it.each([
  ['How can I help you today?', 'en-US'],
  ['¿En qué le puedo ayudar?', 'es-MX'],
  ['¡Claro!', 'es-MX'],
  ['Guten Tag, wie kann ich Ihnen helfen?', 'de-DE'],
  ['Bonjour, comment puis-je vous aider ?', 'fr'],
  ['Buongiorno, come posso aiutarla?', 'it'],
  ['Olá, como posso ajudar você hoje?', 'pt-BR'],
  ['Hallo, waarmee kan ik u helpen?', 'nl'],
  ['Dzień dobry, w czym mogę pomóc?', 'pl'],
  ['Hej, vad kan jag hjälpa dig med?', 'sv'],
  ['Merhaba, size nasıl yardımcı olabilirim?', 'tr'],
  ['こんにちは。ご用件は何でしょうか。', 'ja'],
  ['Здравствуйте, чем могу помочь?', 'ru'],
  ['كيف يمكنني مساعدتك؟', 'ar'],
  ['मैं आपकी मदद कैसे कर सकता हूँ?', 'hi'],
])('knows the language of "%s": %s', (text, tag) => expect(writtenLanguage(text, tags)).toBe(tag))

it.each([
  ['Trunkline 42', ['en', 'es']],
  ['', ['en', 'es']],
  ['No.', ['de', 'fr']],
  ['你好', ['zh', 'ja']],
  ['Guten Tag', ['xx', 'yy']],
  ['Hello there', []],
])('does not guess the language of "%s" among %j', (text, among) =>
  expect(writtenLanguage(text, among)).toBeUndefined(),
)

it('takes linear time for long texts', () => {
  const text = 'the '.repeat(100_000)
  expect(writtenLanguage(text, ['en', 'de'])).toBe('en')
})
