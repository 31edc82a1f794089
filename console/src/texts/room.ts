import type { TextsOf } from './en.ts'
import { language } from './language.ts'

const en = {
  join: 'Join',
  joinVideo: 'Join with video',
  joinRoom: (name: string) => `Join ${name}`,
  joinRoomVideo: (name: string) => `Join ${name} with video`,
  leave: 'Leave',
  inRoom: (name: string) => `Room ${name}`,

  people: 'People',
  peopleInRoom: (count: number) => `People in the room (${count})`,
  you: 'You',
  muted: 'Muted',
  videoOff: 'Video off',
  telephone: 'Telephone',
  sharing: 'Shares a screen',
  talking: 'Talking',
  onHold: 'On hold',
  handRaised: 'Hand raised',
  screenOf: (name: string) => `Screen of ${name}`,
  yourScreen: 'Your screen',
  muteMember: (name: string) => `Mute ${name}`,
  removeMember: (name: string) => `Remove ${name} from the room`,
  lowerHandOf: (name: string) => `Lower the hand of ${name}`,
  endScreenOf: (name: string) => `End the screen of ${name}`,
  raiseHand: 'Raise hand',
  lowerHand: 'Lower hand',
  lock: 'Lock the room',
  unlock: 'Unlock the room',
  endRoom: 'End for all',
  endRoomQuestion: 'End the room for all?',
  endRoomHint: (count: number) =>
    count > 1
      ? `${count} people are in the room. Their calls end, also those of telephones.`
      : 'You are alone in the room.',
  locked: 'Locked',
  chat: 'Chat',
  chatWithNew: 'Chat, new messages',
  hide: 'Close',
  speaks: (names: string) => `Talking: ${names}`,

  layout: 'Layout for all members',
  layoutGrid: 'Grid',
  layoutSpeaker: 'Speaker and others',
  layoutOne: 'Speaker only',

  joined: (name: string) => `${name} joined.`,
  left: (name: string) => `${name} left.`,
  sharesNow: (name: string) => `${name} shares a screen.`,
  raisedNow: (name: string) => `${name} raised a hand.`,
  lockedNow: 'The room is locked now.',
  unlockedNow: 'The room is open now.',
  refused: 'You may not change this in the room.',
  failed: 'The change failed. Please try again.',

  wasRemoved: 'You were removed from the room.',
  wasEnded: 'The room was closed.',
  hasExpired: 'Your time in the room is over.',

  isLocked: 'The room is locked.',
  isNotOpen: 'The room is not open at this time.',
  isFull: 'The room is full.',
  waitHint: 'You join as soon as this is possible.',
  waitAgain: 'Trying again…',
  tryAgain: 'Try again',
  stopWaiting: 'Stop waiting',
} as const

/** Texts of rooms, which are loaded with them. */
export type RoomTexts = TextsOf<typeof en>

const de: RoomTexts = {
  join: 'Beitreten',
  joinVideo: 'Mit Video beitreten',
  joinRoom: (name) => `${name} beitreten`,
  joinRoomVideo: (name) => `${name} mit Video beitreten`,
  leave: 'Verlassen',
  inRoom: (name) => `Raum ${name}`,

  people: 'Personen',
  peopleInRoom: (count) => `Personen im Raum (${count})`,
  you: 'Sie',
  muted: 'Stumm',
  videoOff: 'Video aus',
  telephone: 'Telefon',
  sharing: 'Teilt einen Bildschirm',
  talking: 'Spricht',
  onHold: 'Gehalten',
  handRaised: 'Hand gehoben',
  screenOf: (name) => `Bildschirm von ${name}`,
  yourScreen: 'Ihr Bildschirm',
  muteMember: (name) => `${name} stummschalten`,
  removeMember: (name) => `${name} aus dem Raum entfernen`,
  lowerHandOf: (name) => `Hand von ${name} senken`,
  endScreenOf: (name) => `Bildschirm von ${name} beenden`,
  raiseHand: 'Hand heben',
  lowerHand: 'Hand senken',
  lock: 'Raum sperren',
  unlock: 'Raum öffnen',
  endRoom: 'Für alle beenden',
  endRoomQuestion: 'Den Raum für alle beenden?',
  endRoomHint: (count) =>
    count > 1
      ? `${count} Personen sind im Raum. Ihre Anrufe enden, auch die von Telefonen.`
      : 'Sie sind allein im Raum.',
  locked: 'Gesperrt',
  chat: 'Chat',
  chatWithNew: 'Chat, neue Nachrichten',
  hide: 'Schließen',
  speaks: (names) => `Spricht: ${names}`,

  layout: 'Anordnung für alle Mitglieder',
  layoutGrid: 'Raster',
  layoutSpeaker: 'Sprecher und andere',
  layoutOne: 'Nur der Sprecher',

  joined: (name) => `${name} ist beigetreten.`,
  left: (name) => `${name} hat den Raum verlassen.`,
  sharesNow: (name) => `${name} teilt einen Bildschirm.`,
  raisedNow: (name) => `${name} hebt die Hand.`,
  lockedNow: 'Der Raum ist jetzt gesperrt.',
  unlockedNow: 'Der Raum ist jetzt offen.',
  refused: 'Sie dürfen das im Raum nicht ändern.',
  failed: 'Die Änderung ist fehlgeschlagen. Bitte versuchen Sie es noch einmal.',

  wasRemoved: 'Sie wurden aus dem Raum entfernt.',
  wasEnded: 'Der Raum wurde geschlossen.',
  hasExpired: 'Ihre Zeit im Raum ist abgelaufen.',

  isLocked: 'Der Raum ist gesperrt.',
  isNotOpen: 'Der Raum ist zu dieser Zeit nicht offen.',
  isFull: 'Der Raum ist voll.',
  waitHint: 'Sie treten bei, sobald es möglich ist.',
  waitAgain: 'Neuer Versuch…',
  tryAgain: 'Noch einmal versuchen',
  stopWaiting: 'Nicht mehr warten',
}

/** Texts by language. */
export const catalogue = { en, de }

/** Returns the texts of rooms in the language of the page. */
export const roomTexts = (): RoomTexts => catalogue[language()]
