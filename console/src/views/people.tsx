import type { Address, PresenceState } from '@trunkline/client'
import { useState } from 'preact/hooks'
import { plainAddress } from '../format.ts'
import { dialled } from '../people.ts'
import type { Texts } from '../texts/en.ts'
import { texts } from '../texts/language.ts'
import { Empty } from './empty.tsx'
import { usePage } from './page.ts'
import { Avatar, IconButton, Skeleton } from './parts.tsx'

/** Returns the kind of an address in words. `call` is a SIP endpoint or gateway, `app` an application. */
export const kindOf = (type: Address['type'], t: Texts): string =>
  ({ subscriber: t.person, room: t.room, app: t.application, call: t.telephone })[type]

/** Returns a presence in words. */
export const presenceText = (state: PresenceState, t: Texts): string =>
  ({
    online: t.available,
    in_call: t.inCall,
    do_not_disturb: t.doNotDisturb,
    offline: t.offline,
  })[state]

const Entry = ({ address }: { readonly address: Address }) => {
  const { phone, write, ui, extras } = usePage()
  const state = extras?.presence.of(address.id)
  const t = texts.value
  const { display_name: name, channels } = address
  const audio = dialled(address, false)
  const shows = ui.wide.value && audio !== undefined
  const text = (
    <>
      <Avatar name={name} presence={state} />
      <span class="entry-text">
        <span class="entry-name">{name}</span>
        <span class="quiet one-line">
          <span data-testid="kind">{kindOf(address.type, t)}</span>
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
          label={t.writePerson(name)}
          testId="person-write"
          press={() => write(address)}
        />
      )}
      {channels.video !== undefined && (
        <IconButton
          icon="camera"
          label={t.videoCallPerson(name)}
          testId="person-video"
          press={() => void phone.dial(channels.video ?? '', { name, video: true })}
        />
      )}
      {audio && (
        <IconButton
          icon="pickup"
          label={t.callPerson(name)}
          testId="person-call"
          press={() => void phone.dial(audio, { name })}
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
          placeholder={t.searchPeople}
          autocomplete="off"
          aria-label={t.searchPeopleLabel}
          data-testid="people-search"
          value={text}
          onInput={({ currentTarget }) => search(currentTarget.value, type)}
        />
        <select
          aria-label={t.kind}
          data-testid="people-type"
          value={type}
          onChange={({ currentTarget }) => search(text, currentTarget.value)}
        >
          <option value="">{t.all}</option>
          <option value="subscriber">{t.peopleKind}</option>
          <option value="room">{t.roomsKind}</option>
          <option value="app">{t.applicationsKind}</option>
          <option value="call">{t.telephonesKind}</option>
        </select>
      </div>
      <ul class="entries" data-testid="people" aria-label={t.addressBook}>
        {shown.map((address) => (
          <Entry key={address.id} address={address} />
        ))}
      </ul>
      {people.hasFailed ? (
        <Empty icon="alert" text={t.peopleFailed}>
          <button type="button" class="plain" onClick={() => void people.load()}>
            {t.tryAgain}
          </button>
        </Empty>
      ) : shown.length > 0 ? null : people.isLoading ? (
        <Skeleton />
      ) : (
        <Empty icon="people" text={t.noPeople}>
          {(text || type) && (
            <button type="button" class="plain" onClick={() => search('', '')}>
              {t.clearSearch}
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
          {t.showMore}
        </button>
      )}
    </div>
  )
}
