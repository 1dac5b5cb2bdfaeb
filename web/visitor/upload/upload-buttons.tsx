import { Icon, type IconName } from '#kit/icons.tsx';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { byTouch, useMedia } from '#visitor/use-media.ts';
import { chosenFiles } from './dropped-files.ts';
import type { Upload } from './uploads.ts';

interface ChooseProperties {
  readonly icon: IconName;
  readonly words: string;
  readonly className: string;
  readonly take: (files: readonly Upload[]) => void;
  readonly more?: {
    readonly multiple?: boolean;
    readonly webkitdirectory?: boolean;
    readonly capture?: 'environment';
    readonly accept?: string;
  };
}

/** A button that lets the visitor choose what to upload. */
export function Choose({ icon, words, className, take, more = {} }: ChooseProperties) {
  return (
    <label class={className} title={words}>
      <Icon name={icon} /> <span class="words">{words}</span>
      <input
        type="file"
        multiple
        {...more}
        class="for-reader"
        onChange={({ currentTarget }) => {
          take(chosenFiles(currentTarget.files));
          currentTarget.value = '';
        }}
      />
    </label>
  );
}

/** Files, on a computer a folder, on a phone the camera. */
export function UploadButtons({ take }: { take: (files: readonly Upload[]) => void }) {
  const { say } = useSpeech();
  const touched = useMedia(byTouch);
  return (
    <>
      {touched ? (
        <Choose
          icon="camera"
          words={say('takePicture')}
          className="button"
          take={take}
          more={{ accept: 'image/*', capture: 'environment' }}
        />
      ) : (
        <Choose icon="folderUp" words={say('chooseFolder')} className="button" take={take} more={{ webkitdirectory: true }} />
      )}
      <Choose icon="upload" words={say('upload')} className="button primary" take={take} />
    </>
  );
}
