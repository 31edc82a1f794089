import { describe, expect, it } from 'vitest'
import { opened, settle, tone } from './testing/open-pipeline.ts'

const english = { name: 'English', code: 'en-US', voice: 'acme.anna' }
const spanish = { name: 'Spanish', code: 'es-MX', voice: 'acme.sofia' }
const languages = [english, spanish, { name: 'British English', code: 'en-GB', voice: 'acme.george' }]

describe('a pipeline of several languages', () => {
  const voicesOf = ({ voice }: Awaited<ReturnType<typeof opened>>) =>
    voice.spoken.map(({ options }) => [options.voice, options.language])

  it('lets the recogniser follow them, and tells the model', async () => {
    const { recogniser, model, link } = await opened({ languages })
    expect(recogniser.last.request).toMatchObject({ language: 'en-US', others: ['es-MX'] })
    link.commit('Hi')
    expect(model.last.messages[0]).toBe(
      'system: Be kind.\n\nYou can speak English, Spanish, British English. ' +
        'Answer in the language that the caller speaks.',
    )
    link.change({ language: spanish })
    expect(recogniser.last.request).toMatchObject({ language: 'es-MX', others: ['en-US'] })
  })

  it('hears another language than it speaks, from the next silence on', async () => {
    const { recogniser, link, log } = await opened({ languages: [{ ...english, heard: 'en-US' }] })
    link.change({ language: { ...english, heard: 'fr-FR' } })
    expect(recogniser.opened.map(({ request }) => request.language)).toEqual(['en-US', 'fr-FR'])
    expect(recogniser.last.request).not.toHaveProperty('others')
    for (let frame = 0; frame < 5; frame++) link.hear(tone())
    link.change({ language: { ...english, heard: 'es-ES' } })
    expect(recogniser.opened).toHaveLength(2)
    for (let frame = 0; frame < 40; frame++) link.hear(new Int16Array(160))
    recogniser.last.listener.onTranscript({ text: 'Oui', isFinal: true })
    for (let frame = 0; frame < 15; frame++) link.hear(new Int16Array(160))
    expect(recogniser.last.request.language).toBe('es-ES')
    await settle()
    expect(log.take()).toEqual(['heard final Oui'])
  })

  it('opens one recognition for many changes', async () => {
    const { recogniser, link } = await opened({ languages: [english] })
    for (let i = 0; i < 1001; i++)
      link.change({ language: { ...english, heard: i % 2 === 0 ? 'fr-FR' : 'es-ES' } })
    link.change({ language: { ...english, heard: 'sv-SE' } })
    expect(recogniser.opened.map(({ request }) => request.language)).toEqual(['en-US', 'fr-FR'])
    for (let frame = 0; frame < 25; frame++) link.hear(new Int16Array(160))
    expect(recogniser.opened.slice(2).map(({ request }) => request.language)).toEqual(['sv-SE'])
  })

  it('warns if the recogniser has its own language', async () => {
    const { recogniser, link, log } = await opened({ languages: [english] })
    recogniser.hasOwnLanguage = true
    link.change({ hints: ['tea'] })
    link.change({ language: { ...english, heard: 'fr-FR' } })
    await settle()
    expect(log.take()).toEqual(['warning language_kept'])
  })

  it('speaks by the voice of the language that the recogniser heard', async () => {
    const t = await opened({ languages })
    const { listener } = t.recogniser.last
    listener.onTranscript({ text: 'Hola', isFinal: false, language: 'es' })
    listener.onTranscript({ text: 'Hola', isFinal: true, language: 'es' })
    t.link.say('OK.')
    await settle()
    listener.onLanguage?.('eng')
    t.link.say('OK.')
    await settle()
    listener.onTranscript({ text: 'Bonjour', isFinal: true, language: 'fr' })
    t.link.say('OK.')
    await settle()
    expect(voicesOf(t)).toEqual([
      ['sofia', 'es-MX'],
      ['anna', 'en-US'],
      ['anna', 'en-US'],
    ])
    expect(t.log.take()).toContain('heard final Hola')
  })

  it('speaks a text in the language in which the model wrote it, and stays with it', async () => {
    const t = await opened({ languages })
    t.link.say('How can I help you?')
    t.link.say('¿En qué le puedo ayudar?')
    t.link.say('42.')
    await settle()
    expect(voicesOf(t).map(([voice]) => voice)).toEqual(['anna', 'sofia', 'sofia'])
  })

  it('keeps the variant of a language', async () => {
    const t = await opened({ languages })
    t.link.change({ language: languages[2]! })
    t.link.say('How can I help you?')
    await settle()
    expect(voicesOf(t)).toEqual([['george', 'en-GB']])
  })

  it('follows the caller from a document that begins with `multi`', async () => {
    const t = await opened({ languages: [{ ...english, code: 'multi' }, english, spanish] })
    expect(t.recogniser.last.request).not.toHaveProperty('others')
    t.link.say('OK.')
    t.recogniser.last.listener.onTranscript({ text: 'Hola', isFinal: true, language: 'es' })
    await settle()
    t.link.say('OK.')
    await settle()
    expect(voicesOf(t)).toEqual([
      ['anna', undefined],
      ['sofia', 'es-MX'],
    ])
  })
})

it('a pipeline of one language never switches', async () => {
  const t = await opened({ languages: [english] })
  expect(t.recogniser.last.request).not.toHaveProperty('others')
  t.link.commit('Hi')
  expect(t.model.last.messages[0]).toBe('system: Be kind.')
  t.link.say('¿En qué le puedo ayudar?')
  await settle()
  expect(t.voice.spoken[0]!.options.voice).toBe('anna')
})
