package emulate

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Lift takes the limits of the card that dir is on away until restore is called: for what prepares a measurement and is
// no part of it, such as copying data to a slow card. restore first waits until all that was written is on the card, so
// that none of it is left to be written under the limits. Where dir is on no card, neither does anything. A card that
// is lifted when its program ends is removed as ever.
func Lift(dir string) (restore func() error, err error) {
	home, s := cardOf(dir)
	if s == nil {
		return func() error { return nil }, nil
	}
	if err := s.Limits.lift(s.Number, s.Facts.Limits); err != nil {
		err = errors.Join(err, s.Limits.limit(s.Number, s.Facts.Limits))
		return nil, fmt.Errorf("cannot take the limits of the emulated card in %s away: %w", home, err)
	}
	return func() error {
		if err := errors.Join(syncFS(filepath.Join(home, mountName)), s.Limits.limit(s.Number, s.Facts.Limits)); err != nil {
			return fmt.Errorf("cannot limit the emulated card in %s again: %w", home, err)
		}
		return nil
	}, nil
}
