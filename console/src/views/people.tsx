import type { Address, PresenceState } from '@trunkline/client'
import { useState } from 'preact/hooks'
import { plainAddress } from '../format.ts'
import { dialled } from '../people.ts'
import type { Phone } from '../phone.ts'
import type { Texts } from '../texts/en.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { roomTexts } from '../texts/room.ts'
import { Empty } from './empty.tsx'
import { usePage } from './page.ts'
import { Avatar, IconButton, Skeleton } from './parts.tsx'

/** Returns the kind of an address in words. `call` is a SIP endpoint or gateway, `app` an application. */
export const kindOf = (type: Address['type']): string =>
  ({
    subscriber: laterTexts().person,
    room: laterTexts().room,
    app: laterTexts().application,
    call: laterTexts().telephone,
  })[type]

/** Returns a presence in words. */
export const presenceText = (state: PresenceState, t: Texts): string =>
  ({
    online: laterTexts().available,
    in_call: laterTexts().inCall,
    do_not_disturb: t.doNotDisturb,
    offline: t.offline,
  })[state]

/** Calls an address without the camera. In a room, the user sees the picture all the same. */
export const joins = (phone: Phone, { type, channels, display_name: name }: Address, to: string): void => {
  const isRoom = type === 'room' && channels.video !== undefined
  void phone.dial(isRoom ? (channels.video ?? to) : to, { name, watches: isRoom })
}

const Entry = ({ address }: { readonly address: Address }) => {
  const { phone, write, ui, extras } = usePage()
  const state = extras?.presence.of(address.id)
  const t = texts.value
  const { display_name: name, channels } = address
  const audio = dialled(address, false)
  const isRoom = address.type === 'room'
  const own = roomTexts()
  const shows = ui.wide.value && audio !== undefined
  const text = (
    <>
      <Avatar name={name} presence={state} />
      <span class="entry-text">
        <span class="entry-name">{name}</span>
        <span class="quiet one-line">
          <span data-testid="kind">{kindOf(address.type)}</span>
          {state && <span data-testid="presence">{` · ${presenceText(state, t)}`}</span>}
        </span>
      </span>
    </>
  )
  return (
    <li class="entry" data-testid="person" data-name={address.name}>
      {shows ? (
        <button
          type="button"
          class="entry-open"
          aria-expanded={ui.contact.value?.address?.id === address.id}
          onClick={() => {
            ui.contact.value = { name, to: audio, address }
          }}
        >
          {text}
        </button>
      ) : (
        text
      )}
      {channels.messaging !== undefined && (
        <IconButton
          icon="chat"
          label={laterTexts().writePerson(name)}
          testId="person-write"
          press={() => write(address)}
        />
      )}
      {channels.video !== undefined && (
        <IconButton
          icon="camera"
          label={isRoom ? own.joinRoomVideo(name) : laterTexts().videoCallPerson(name)}
          testId="person-video"
          press={() => void phone.dial(channels.video ?? '', { name, video: true })}
        />
      )}
      {audio && (
        <IconButton
          icon="pickup"
          label={isRoom ? own.joinRoom(name) : t.callPerson(name)}
          testId="person-call"
          press={() => joins(phone, address, audio)}
        />
      )}
    </li>
  )
}

/** Address book. */
export const PeopleView = () => {
  const { people, account } = usePage()
  const [text, setText] = useState('')
  const [type, setType] = useState('')
  const t = texts.value
  const search = (name: string, kind: string) => {
    setText(name)
    setType(kind)
    people.search(name, (kind || undefined) as Address['type'] | undefined)
  }
  const shown = people.list.filter(
    ({ channels }) => !channels.audio || plainAddress(channels.audio) !== account.address,
  )
  return (
    <div class="page">
      <div class="search">
        <input
          type="search"
          placeholder={laterTexts().searchPeople}
          autocomplete="off"
          aria-label={laterTexts().searchPeopleLabel}
          data-testid="people-search"
          value={text}
          onInput={({ currentTarget }) => search(currentTarget.value, type)}
        />
        <select
          aria-label={laterTexts().kind}
          data-testid="people-type"
          value={type}
          onChange={({ currentTarget }) => search(text, currentTarget.value)}
        >
          <option value="">{laterTexts().all}</option>
          <option value="subscriber">{laterTexts().peopleKind}</option>
          <option value="room">{laterTexts().roomsKind}</option>
          <option value="app">{laterTexts().applicationsKind}</option>
          <option value="call">{laterTexts().telephonesKind}</option>
        </select>
      </div>
      <ul class="entries" data-testid="people" aria-label={laterTexts().addressBook}>
        {shown.map((address) => (
          <Entry key={address.id} address={address} />
        ))}
      </ul>
      {people.hasFailed ? (
        <Empty icon="alert" text={laterTexts().peopleFailed}>
          <button type="button" class="plain" onClick={() => void people.load()}>
            {t.tryAgain}
          </button>
        </Empty>
      ) : shown.length > 0 ? null : people.isLoading ? (
        <Skeleton />
      ) : (
        <Empty icon="people" text={laterTexts().noPeople}>
          {(text || type) && (
            <button type="button" class="plain" onClick={() => search('', '')}>
              {laterTexts().clearSearch}
            </button>
          )}
        </Empty>
      )}
      {people.hasMore && !people.hasFailed && (
        <button
          type="button"
          class="plain more"
          data-testid="people-more"
          disabled={people.isLoading}
          onClick={() => void people.more()}
        >
          {laterTexts().showMore}
        </button>
      )}
    </div>
  )
}
