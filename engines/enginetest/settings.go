package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"tpccbench/engines"
)

// checkSettings: settings that there are not, and values that are none, are engines.ErrSetting and leave a directory
// that can still become a store; each listed value and each default, spelled out, works.
func checkSettings(s *suite) error {
	if s.factory.Name == "" || s.factory.Doc == "" || s.factory.Format == "" {
		return errors.New("Factory.Name, Doc and Format must not be empty")
	}
	if err := s.badSetting("no_such_setting", "1"); err != nil {
		return err
	}
	spelled := s // with the defaults of the settings whose values cannot be listed
	for _, set := range s.factory.Settings {
		if set.Name == "" || set.Doc == "" {
			return fmt.Errorf("setting %+v: Name and Doc must not be empty", set)
		}
		if err := s.badSetting(set.Name, "no such value"); err != nil {
			return err
		}
		if !slices.Contains(set.Values, set.Default) {
			spelled = spelled.with(set.Name, set.Default)
		}
		for _, value := range set.Values {
			if err := s.with(set.Name, value).checkWorks(); err != nil {
				return fmt.Errorf("%s=%s: %w", set.Name, value, err)
			}
		}
	}
	if err := spelled.checkWorks(); err != nil {
		return fmt.Errorf("all settings given as their defaults: %w", err)
	}
	return nil
}

// with is the suite with one setting more.
func (s *suite) with(name, value string) *suite {
	other := *s
	other.settings = maps.Clone(s.settings)
	if other.settings == nil {
		other.settings = map[string]string{}
	}
	other.settings[name] = value
	return &other
}

func (s *suite) badSetting(name, value string) error {
	dir := s.tempDir()
	e, err := s.with(name, value).open(dir)
	if err == nil {
		return errors.Join(fmt.Errorf("the bad setting %s=%s is taken", name, value), e.Close())
	}
	if !errors.Is(err, engines.ErrSetting) {
		return fmt.Errorf("the bad setting %s=%s: the error must wrap engines.ErrSetting: %w", name, value, err)
	}
	if err := s.withEngine(dir, func(engines.Engine) error { return nil }); err != nil {
		return fmt.Errorf("after a bad setting was refused: %w", err)
	}
	return nil
}

// checkWorks: a store can be made, worked on and reopened.
func (s *suite) checkWorks() error {
	w := s.standard(s.seeds[0], 1)
	m, err := w.newModel()
	if err != nil {
		return err
	}
	dir := s.tempDir()
	err = s.withEngine(dir, func(e engines.Engine) error {
		if err := e.Load(w.population()); err != nil {
			return err
		}
		return withHistory(e, m, w.stream(), func(h *history) error { return h.run(40) })
	})
	if err != nil {
		return err
	}
	return s.withEngine(dir, func(e engines.Engine) error { return sameAsModel(e, m) })
}
