import type { Message } from '@trunkline/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Talk } from '../chats.ts'
import { moment } from '../dates.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import type { Thread } from '../thread.ts'
import { Empty } from './empty.tsx'
import { Icon } from './icon.tsx'
import { useExtras, usePage } from './page.ts'
import { Avatar, IconButton, Skeleton } from './parts.tsx'

const maxLength = 4096

const Entry = ({ talk }: { readonly talk: Talk }) => {
  const { clock } = usePage()
  const { chats } = useExtras()
  const isOpen = chats.thread !== undefined && chats.thread.id === talk.id
  return (
    <li>
      <button
        type="button"
        class={talk.unread ? 'talk unread' : 'talk'}
        aria-current={isOpen ? 'true' : undefined}
        data-testid="talk"
        data-name={talk.name}
        onClick={() => chats.open(talk.id, talk.name)}
      >
        <Avatar name={talk.name} />
        <span class="entry-text">
          <span class="entry-name">{talk.name}</span>
          <span class="quiet one-line">{talk.text ?? ''}</span>
        </span>
        <span class="talk-end">
          <span class="quiet">{moment(talk.at, clock.now())}</span>
          {talk.unread && (
            <span class="mark">
              <span class="aside">{laterTexts().newMessages}</span>
            </span>
          )}
        </span>
      </button>
    </li>
  )
}

/** List of conversations. */
export const TalksView = () => {
  const { ui } = usePage()
  const { chats } = useExtras()
  const t = texts.value
  if (chats.hasFailed)
    return (
      <Empty icon="alert" text={laterTexts().messagesFailed}>
        <button type="button" class="plain" onClick={() => void chats.load()}>
          {t.tryAgain}
        </button>
      </Empty>
    )
  if (chats.list.length === 0)
    return (
      <Empty icon="chat" text={laterTexts().noTalks}>
        <button
          type="button"
          class="plain"
          onClick={() => {
            ui.tab.value = 'people'
          }}
        >
          {laterTexts().findPerson}
        </button>
      </Empty>
    )
  return (
    <div class="page">
      <ul class="entries" data-testid="talks">
        {chats.list.map((talk) => (
          <Entry key={`${talk.group} ${talk.id}`} talk={talk} />
        ))}
      </ul>
      {chats.hasMore && (
        <button type="button" class="plain more" onClick={() => void chats.more()}>
          {laterTexts().showMore}
        </button>
      )}
    </div>
  )
}

const Bubble = ({ message, own }: { readonly message: Message; readonly own: boolean }) => {
  const { clock } = usePage()
  const at = message.ts * 1000
  return (
    <li class={own ? 'bubble own' : 'bubble'} data-testid="message">
      {!own && <span class="author">{message.user_name || laterTexts().guest}</span>}
      <span class="said">{message.text}</span>
      <time class="said-at" dateTime={new Date(at).toISOString()}>
        {moment(at, clock.now())}
      </time>
    </li>
  )
}

const Composer = ({ thread }: { readonly thread: Thread }) => {
  const box = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(thread.draft)
  const [fault, setFault] = useState('')
  const [sending, setSending] = useState(false)
  const t = texts.value
  useEffect(() => box.current?.focus(), [])
  const change = (written: string) => {
    thread.draft = written
    setText(written)
  }
  const send = async () => {
    const written = text.trim()
    if (!written || sending) return
    setSending(true)
    setFault('')
    // The user may already write the next message.
    change('')
    box.current?.focus()
    try {
      await thread.send(written)
    } catch (error) {
      // The text returns to the box, so that the user can send it again.
      if (thread.draft === '') change(written)
      setFault((error as Error).message)
    }
    setSending(false)
  }
  return (
    <div class="compose">
      <p class="fault" role="alert" data-testid="message-fault">
        {fault}
      </p>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <textarea
          ref={box}
          rows={1}
          maxLength={maxLength}
          placeholder={t.message}
          aria-label={t.message}
          data-testid="message-text"
          value={text}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        <button
          type="submit"
          class="primary round"
          aria-label={t.send}
          data-testid="message-send"
          disabled={sending}
        >
          <Icon name="send" />
        </button>
      </form>
    </div>
  )
}

/**
 * Keeps the scroll position: a reader at the end stays at the end. A reader further up is not moved, also
 * when earlier messages are added above.
 */
const useScroll = (thread: Thread) => {
  const scroll = useRef<HTMLDivElement>(null)
  const fromEnd = useRef(0)
  useLayoutEffect(() => {
    const shown = scroll.current
    if (shown) shown.scrollTop = shown.scrollHeight - Math.max(fromEnd.current, shown.clientHeight)
  }, [thread.messages, thread.messages.length])
  useEffect(() => {
    const shown = scroll.current
    const over = new AbortController()
    const follow = () => {
      const left = (shown?.scrollHeight ?? 0) - (shown?.scrollTop ?? 0)
      fromEnd.current = shown && left - shown.clientHeight < 40 ? 0 : left
    }
    shown?.addEventListener('scroll', follow, over)
    return () => over.abort()
  }, [])
  return scroll
}

/** The open conversation. */
export const ThreadView = () => {
  const { chats } = useExtras()
  const { thread } = chats
  return thread ? <Conversation key={thread.id} thread={thread} /> : null
}

const Conversation = ({ thread }: { readonly thread: Thread }) => {
  const { ui } = usePage()
  const { chats } = useExtras()
  const scroll = useScroll(thread)
  const t = texts.value
  const none = thread.messages.length === 0
  return (
    <div class="thread" data-testid="thread">
      <header class="thread-top">
        {!ui.wide.value && (
          <IconButton icon="back" label={laterTexts().allMessages} press={() => chats.leave()} />
        )}
        <Avatar name={thread.name} />
        <h2 data-testid="thread-name">{thread.name}</h2>
        {ui.wide.value && <IconButton icon="close" label={t.close} press={() => chats.leave()} />}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <div ref={scroll} class="scroll" tabIndex={0} role="log" aria-label={t.messagesTab}>
        {thread.hasOlder && (
          <button
            type="button"
            class="plain more"
            data-testid="older"
            disabled={thread.isLoading}
            onClick={() => void thread.older()}
          >
            {laterTexts().earlierMessages}
          </button>
        )}
        {thread.hasFailed ? (
          <Empty icon="alert" text={laterTexts().messagesFailed} />
        ) : none && thread.isLoading ? (
          <Skeleton />
        ) : (
          none && <Empty icon="chat" text={laterTexts().noMessages} />
        )}
        <ul class="messages">
          {thread.messages.map((message) => (
            <Bubble key={message.id} message={message} own={thread.isOwn(message)} />
          ))}
        </ul>
      </div>
      <Composer thread={thread} />
    </div>
  )
}
