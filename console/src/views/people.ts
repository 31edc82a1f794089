import type { Address } from '@trunkline/client'
import { button, element, setText, show } from '../dom.ts'
import { initials } from '../format.ts'
import { icon } from '../icons.ts'
import { dialled, type People } from '../people.ts'
import type { Phone } from '../phone.ts'
import { keyed, type View } from './view.ts'

/**
 * Names of the kinds of addresses. `call` is a SIP endpoint or gateway, `app` a document or an application.
 */
const kinds = { subscriber: 'Person', room: 'Room', app: 'Application', call: 'Telephone' } as const

/** Actions on entries of the address book. */
export interface PeopleActions {
  /** The own address, which is not listed. */
  readonly self: string
  readonly write: (address: Address) => void
}

// Address without the channel.
const plainOf = (to: string | undefined): string | undefined => to?.replace(/\?.*/, '')

const entry = (address: Address, phone: Phone, { write }: PeopleActions) => {
  const { display_name: name, channels, type } = address
  const audio = dialled(address, false)
  const act = (word: string, picture: 'pickup' | 'camera' | 'chat', test: string, press: () => void) =>
    button(
      { class: 'small', 'aria-label': `${word} ${name}`, title: word, 'data-testid': test },
      press,
      icon(picture),
    )
  return {
    element: element(
      'li',
      { class: 'entry', 'data-testid': 'person', 'data-name': address.name },
      element('span', { class: `badge ${type}`, 'aria-hidden': 'true' }, initials(name)),
      element(
        'div',
        { class: 'entry-text' },
        element('span', { class: 'entry-name' }, name),
        element('span', { class: 'quiet' }, `${kinds[type]} · ${plainOf(audio) ?? address.name}`),
      ),
      audio && act('Call', 'pickup', 'person-call', () => void phone.dial(audio, { name })),
      channels.video !== undefined &&
        act(
          'Video call',
          'camera',
          'person-video',
          () => void phone.dial(channels.video ?? '', { name, video: true }),
        ),
      channels.messaging !== undefined && act('Write to', 'chat', 'person-write', () => write(address)),
    ),
  }
}

/** Creates the address book. */
export const peopleView = (people: People, phone: Phone, actions: PeopleActions): View => {
  const { self } = actions
  const search = element('input', {
    type: 'search',
    placeholder: 'Search by name',
    autocomplete: 'off',
    'aria-label': 'Search the address book by name',
    'data-testid': 'people-search',
  })
  const type = element(
    'select',
    { 'aria-label': 'Kind', 'data-testid': 'people-type' },
    element('option', { value: '' }, 'All'),
    element('option', { value: 'subscriber' }, 'People'),
    element('option', { value: 'room' }, 'Rooms'),
    element('option', { value: 'app' }, 'Applications'),
    element('option', { value: 'call' }, 'Telephones'),
  )
  const ask = () => people.search(search.value, (type.value || undefined) as Address['type'] | undefined)
  search.addEventListener('input', ask)
  type.addEventListener('change', ask)
  const list = element('ul', { class: 'entries', 'data-testid': 'people' })
  const state = element('p', { class: 'empty', role: 'status' })
  const more = button(
    { class: 'plain more', 'data-testid': 'people-more' },
    () => void people.more(),
    'Show more',
  )
  const again = button({ class: 'plain more' }, () => void people.load(), 'Try again')
  const update = keyed<Address>(
    list,
    (address) => entry(address, phone, actions),
    ({ id }) => id,
  )
  return {
    element: element(
      'section',
      { class: 'page', 'aria-label': 'Address book' },
      element('div', { class: 'search' }, search, type),
      list,
      state,
      more,
      again,
    ),
    update() {
      update(people.list.filter(({ channels }) => plainOf(channels.audio) !== self))
      const status = people.hasFailed
        ? 'The address book could not be loaded.'
        : people.list.length > 0
          ? ''
          : people.isLoading
            ? 'Loading…'
            : 'No matching entries.'
      setText(state, status)
      show(state, status !== '')
      show(more, people.hasMore && !people.hasFailed)
      more.disabled = people.isLoading
      show(again, people.hasFailed)
    },
  }
}
