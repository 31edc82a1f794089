import { button, element, setText, show } from '../dom.ts'
import { destination } from '../format.ts'
import { icon } from '../icons.ts'
import { dialled, type People } from '../people.ts'
import type { Phone } from '../phone.ts'
import { keypad } from './keypad.ts'
import type { View } from './view.ts'

const wanted =
  'Enter a name, a number, an address such as /public/bob, or a SIP URI such as sip:bob@example.com.'

/** Creates the dial box and its keypad. */
export const dialView = (phone: Phone, people: People): View => {
  const to = element('input', {
    id: 'to',
    type: 'text',
    inputmode: 'url',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    placeholder: 'Name, number or address',
    'aria-describedby': 'to-fault',
    'data-testid': 'dial-to',
  })
  const erase = button(
    { class: 'erase', 'aria-label': 'Delete the last character' },
    () => {
      to.value = to.value.slice(0, -1)
    },
    icon('erase'),
  )
  const call = element(
    'button',
    { type: 'submit', class: 'accept', value: 'audio', 'data-testid': 'dial' },
    icon('pickup'),
    'Call',
  )
  const video = element(
    'button',
    { type: 'submit', class: 'plain', value: 'video', 'data-testid': 'dial-video' },
    icon('camera'),
    'Video call',
  )
  const fault = element('p', { id: 'to-fault', class: 'fault', role: 'alert' })
  show(fault, false)
  const form = element(
    'form',
    { class: 'dial' },
    element('label', { for: 'to' }, 'Who do you want to call?'),
    element('div', { class: 'field' }, to, erase),
    fault,
    keypad((key) => {
      to.value += key
    }, 'dial-key'),
    element('div', { class: 'row' }, call, video),
  )
  const refuse = (text: string) => {
    setText(fault, text)
    show(fault, text !== '')
    to.setAttribute('aria-invalid', String(text !== ''))
    if (text) to.focus()
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const withVideo = (event.submitter as HTMLButtonElement | null)?.value === 'video'
    void place(to.value.trim(), withVideo)
  })
  const place = async (typed: string, withVideo: boolean) => {
    refuse(typed ? '' : wanted)
    const where = destination(typed)
    if (where) return phone.dial(where, { video: withVideo })
    if (!typed) return
    try {
      const found = await people.find(typed)
      const at = found && dialled(found, withVideo)
      if (!at) return refuse(`No match for “${typed}” in the address book. ${wanted}`)
      await phone.dial(at, { video: withVideo, name: found.display_name })
    } catch {
      refuse('The address book could not be loaded. Please try again.')
    }
  }
  return {
    element: form,
    update() {
      show(form, phone.current === undefined)
      call.disabled = video.disabled = phone.isBusy || phone.connection !== 'connected'
    },
  }
}
